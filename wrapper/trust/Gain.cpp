// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Gain.h"

#include "wrapper/trust/MedianBound.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace r3::trust {

namespace {

constexpr double AaPart = 0.99;

std::vector<double> ratiosOf(std::span<const Batch> Batches,
                             double SubtractUs) {
  std::vector<double> Result;
  for (const Batch &B : Batches)
    Result.push_back(batchRatio(B, SubtractUs));
  return Result;
}

/// Why the processes do not agree on a gain, or nothing.
std::string compareProcesses(std::span<const Batch> Batches,
                             double SubtractUs) {
  std::map<uint32_t, std::vector<Batch>> Processes;
  for (const Batch &B : Batches)
    Processes[B.Process].push_back(B);
  if (Processes.size() < LeastProcesses)
    return format("measured in %zu process, %zu are needed", Processes.size(),
                  LeastProcesses);
  for (const auto &[Process, Own] : Processes)
    if (double Ratio = median(ratiosOf(Own, SubtractUs)); Ratio <= 1)
      return format("not faster in each process: %.4gx in number %u", Ratio,
                    Process);
  return {};
}

std::string tooFew(size_t Steady, size_t Needed) {
  return format("too few steady batches: %zu, %zu are needed", Steady, Needed);
}

/// Fills in the other mode's median; why it loses, or nothing.
std::string judgeOther(const Measurement &Other, size_t Needed, Gain &Result) {
  const std::vector<Batch> Steady = steadyBatches(Other.Batches);
  const std::vector<double> Ratios = ratiosOf(Steady, Other.SubtractUs);
  if (!Ratios.empty())
    Result.OtherRatio = median(Ratios);
  if (Steady.size() < Needed)
    return "in the other cache mode " + tooFew(Steady.size(), Needed);
  const bool Proven = medianAtMost(Ratios, Result.Error).value_or(1) < 1;
  if (Proven || Result.OtherRatio * Result.Needed < 1)
    return format("loses in the other cache mode: %.4gx", Result.OtherRatio);
  return {};
}

/// Why the mode that decides shows no gain, or nothing.
std::string judgeDeciding(std::span<const Batch> Steady, double SubtractUs,
                          size_t Needed, const Gain &Result) {
  if (Steady.size() < Needed)
    return tooFew(Steady.size(), Needed);
  if (Result.AtLeast <= 1)
    return format("not proven: the interval reaches down to %.4gx",
                  Result.AtLeast);
  if (Result.Ratio <= Result.Needed)
    return format("within this kernel's own noise: more than %.4gx is needed",
                  Result.Needed);
  return compareProcesses(Steady, SubtractUs);
}

} // namespace

double errorOfTry(unsigned Try) { return std::ldexp(FirstTryError, -int(Try)); }

size_t batchesNeeded(unsigned Try) { return valuesNeeded(errorOfTry(Try)); }

double gainNeeded(std::span<const double> AaRatios) {
  std::vector<double> Both;
  for (double Ratio : AaRatios) {
    Both.push_back(Ratio);
    Both.push_back(1 / Ratio);
  }
  return Both.empty() ? LeastGain
                      : std::max(LeastGain, quantile(Both, AaPart) - 1);
}

Gain judgeGain(const Measurement &Deciding, const Measurement *Other,
               std::span<const double> AaRatios, unsigned Try) {
  const std::vector<Batch> Steady = steadyBatches(Deciding.Batches);
  const auto Ratios = ratiosOf(Steady, Deciding.SubtractUs);
  const size_t Needed = batchesNeeded(Try);
  Gain Result;
  Result.Error = errorOfTry(Try);
  Result.Needed = 1 + gainNeeded(AaRatios);
  Result.Steady = Steady.size();
  Result.Dropped = Deciding.Batches.size() - Steady.size();
  if (!Ratios.empty())
    Result.Ratio = median(Ratios);
  Result.AtLeast = medianAtLeast(Ratios, Result.Error).value_or(0);

  const std::string OtherObjection =
      Other ? judgeOther(*Other, Needed, Result) : std::string();
  std::string Objection =
      judgeDeciding(Steady, Deciding.SubtractUs, Needed, Result);
  if (Objection.empty())
    Objection = OtherObjection;
  Result.Accepted = Objection.empty();
  Result.Message =
      Result.Accepted
          ? format("%.4gx, at least %.4gx (%zu batches, error %.3g %%)",
                   Result.Ratio, Result.AtLeast, Result.Steady,
                   100 * Result.Error)
          : format("%.4gx: %s", Result.Ratio, Objection.c_str());
  return Result;
}

} // namespace r3::trust
