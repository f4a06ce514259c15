// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Timing.h"

#include "wrapper/trust/MedianBound.h"

#include <cassert>
#include <cmath>

namespace r3::trust {

namespace {

constexpr double HostSlackUs = 20, HostSlackPart = 0.05;
constexpr double ModePart = 0.25;
constexpr double NetInSpreads = 5, LeastNetUs = 1;

bool isThrottled(const Batch &B) {
  return ((B.Before.Reasons | B.After.Reasons) & ThrottleReasons) != 0;
}

/// Zero is a clock that could not be read: equal to zero only.
bool nearlyEqual(double A, double B) {
  return A == B || std::fabs(A - B) < ClockTolerance * std::max(A, B);
}

bool nearlyEqual(const ClockSample &A, const ClockSample &B) {
  return nearlyEqual(A.SmMhz, B.SmMhz) && nearlyEqual(A.MemoryMhz, B.MemoryMhz);
}

/// The lower of the middle two where there are two: a clock that was seen.
ClockSample usualClocks(std::span<const Batch> Batches) {
  std::vector<double> Sm, Memory;
  for (const Batch &B : Batches)
    for (const ClockSample &S : {B.Before, B.After}) {
      Sm.push_back(S.SmMhz);
      Memory.push_back(S.MemoryMhz);
    }
  return {quantile(Sm, 0.5), quantile(Memory, 0.5)};
}

} // namespace

std::vector<Batch> steadyBatches(std::span<const Batch> All) {
  std::vector<Batch> Calm;
  for (const Batch &B : All)
    if (!isThrottled(B))
      Calm.push_back(B);
  if (Calm.empty())
    return {};
  const ClockSample Usual = usualClocks(Calm);
  std::vector<Batch> Steady;
  for (const Batch &B : Calm)
    if (nearlyEqual(B.Before, B.After) && nearlyEqual(B.Before, Usual) &&
        nearlyEqual(B.After, Usual))
      Steady.push_back(B);
  return Steady;
}

double batchRatio(const Batch &B, double SubtractUs) {
  const double Original = B.OriginalUs[0] + B.OriginalUs[1] - 2 * SubtractUs;
  const double Variant = B.VariantUs[0] + B.VariantUs[1] - 2 * SubtractUs;
  assert(Original > 0 && Variant > 0 && "resolve() was not asked");
  return Original / Variant;
}

Resolution resolve(double ShorterUs, std::span<const double> EmptyUs) {
  if (ShorterUs >= ShortUs)
    return {};
  if (EmptyUs.empty())
    return {0,
            {Outcome::BelowResolution,
             format("%.2f us is too short to be timed without the time of an "
                    "empty kernel",
                    ShorterUs)}};
  const double Empty = median(EmptyUs);
  const double Spread = quantile(EmptyUs, 0.95) - quantile(EmptyUs, 0.05);
  const double Net = ShorterUs - Empty;
  if (Net >= NetInSpreads * Spread && Net >= LeastNetUs)
    return {Empty, {}};
  return {0,
          {Outcome::BelowResolution,
           format("%.2f us, of which an empty kernel takes %.2f us (spread "
                  "%.2f us): what remains is too short to be timed",
                  ShorterUs, Empty, Spread)}};
}

std::string compareWithHost(double EventsUs, double HostUs,
                            double EmptyHostUs) {
  const double Net = HostUs - EmptyHostUs;
  if (std::fabs(Net - EventsUs) <= HostSlackUs + HostSlackPart * EventsUs)
    return {};
  return format("the device's events say %.1f us, the host %.1f us", EventsUs,
                Net);
}

ModeChoice chooseMode(double ProgramUs, double ColdUs, double WarmUs) {
  auto Distance = [&](double Us) {
    return std::fabs(std::log(Us / ProgramUs));
  };
  const bool IsCold = Distance(ColdUs) <= Distance(WarmUs);
  const double Nearest = IsCold ? ColdUs : WarmUs;
  ModeChoice Result{IsCold ? CacheMode::Cold : CacheMode::Warm, {}};
  if (std::fabs(Nearest - ProgramUs) > ModePart * ProgramUs)
    Result.Warning =
        format("replay time not representative: %.1f us in the program, %.1f "
               "us replayed with a cold cache, %.1f us with a warm one",
               ProgramUs, ColdUs, WarmUs);
  return Result;
}

} // namespace r3::trust
