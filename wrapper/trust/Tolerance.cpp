// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Tolerance.h"

#include "wrapper/trust/Values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace r3::trust {

namespace {

constexpr double MostSigmas = RoundingModel::MostSigmas,
                 MostRms = RoundingModel::MostRms;
constexpr double MostErrors = 4, LeastBias = 0.25;
constexpr size_t LeastGroups = 30;
constexpr double ErrorFactor = 2, LeastError = 0.29, MostApart = 0.5;
constexpr double Count = RoundingModel::Replays;

bool sameBits(std::span<const uint8_t> A, std::span<const uint8_t> B,
              size_t Offset, size_t Size) {
  return std::memcmp(A.data() + Offset, B.data() + Offset, Size) == 0;
}

/// Zero or denormal: may be an integer's bits.
bool isTiny(double Value, ValueType Type) {
  return Value == 0 || comparesByBits(Value, Type);
}

std::string describeBias(const Bias &B, const char *Where) {
  return format("is too %s by %.3g sigma on average (%.3g standard errors, %g "
                "are allowed; the original: %.3g sigma), rounding errors would "
                "cancel",
                Where, std::fabs(B.Mean), std::fabs(B.Mean) / B.StandardError,
                MostErrors, std::fabs(B.Original));
}

} // namespace

bool Bias::counts() const {
  const double Excess = std::fabs(Mean) - std::fabs(Original);
  return std::fabs(Mean) > LeastBias && Excess > MostErrors * StandardError;
}

bool Deviation::comparesInDouble() const {
  return ElementsInDouble && Apart <= MostApart;
}

ToleranceCheck::ToleranceCheck(const RoundingModel &Original,
                               std::optional<UserTolerance> User)
    : Original(Original), User(User) {}

void ToleranceCheck::noteWrong(const DifferingChunk &Chunk, size_t Offset,
                               const std::string &Why) {
  ++WrongElements;
  const uint64_t At = Chunk.Offset + Offset;
  if (!First.empty() && FirstAt < At)
    return;
  FirstAt = At;
  const Buffer &Where = Original.buffer();
  First = describeElement(Where, At, Where.Type, Chunk.Expected, Chunk.Got,
                          Offset) +
          Why;
}

std::string ToleranceCheck::judgeNumber(const RoundingModel::Element &E,
                                        double Expected, double Got) {
  const double Sigmas = std::fabs(Got - E.Mean) / E.Sigma;
  Largest = std::max(Largest, Sigmas);
  if (User) {
    const double Allowed =
        User->Absolute + User->Relative * std::fabs(Expected);
    return std::fabs(Got - Expected) <= Allowed
               ? std::string()
               : format(", off by %.3g, the tolerance given allows %.3g",
                        std::fabs(Got - Expected), Allowed);
  }
  return Sigmas <= MostSigmas
             ? std::string()
             : format(", off by %.3g sigma, %g are allowed (sigma is %.3g)",
                      Sigmas, MostSigmas, E.Sigma);
}

std::string ToleranceCheck::judgeElement(const DifferingChunk &Chunk,
                                         size_t Offset,
                                         const RoundingModel::Chunk *Known) {
  const ValueType Type = Original.Where.Type;
  const size_t Size = elementSize(Type);
  const double Expected = valueAt(Chunk.Expected, Offset, Type);
  const double Got = valueAt(Chunk.Got, Offset, Type);
  const bool Same = sameBits(Chunk.Expected, Chunk.Got, Offset, Size);
  if (!Same && !sameClass(Expected, Got))
    return ", which is no rounding error";
  if (!std::isfinite(Expected))
    return {};
  if (!Known)
    return Same ? "" : ", rounding never moves this part of the buffer";
  const RoundingModel::Element E = Original.elementAt(*Known, Offset, Expected);
  if (!Same && E.Unstable)
    return ", where rounding makes NaN or infinity of a number: only the "
           "original's bits are accepted";
  if (!Same && !E.Moved) {
    if (sameBits(Chunk.Before, Chunk.Expected, Offset, Size))
      return ", the original does not change it";
    if (isTiny(Expected, Type) && Got != Expected)
      return ", rounding never moves it";
  }
  if (E.Unstable)
    return {};
  const double Common = Original.commonSigma(Expected);
  const double D = (Got - E.Mean) / Common, Own = (Expected - E.Mean) / Common;
  const double Sign = std::copysign(1.0, Expected);
  ++Elements;
  Squares += (Got - E.Mean) / E.Sigma * ((Got - E.Mean) / E.Sigma);
  Upward.add(Expected, D, Own);
  Outward.add(Expected, Sign * D, Sign * Own);
  return judgeNumber(E, Expected, Got);
}

void ToleranceCheck::addChunk(const DifferingChunk &Chunk,
                              std::span<const double> DoubleValues) {
  const ValueType Type = Original.Where.Type;
  const size_t Size = elementSize(Type), Bytes = Chunk.Expected.size();
  const RoundingModel::Chunk *Known = Original.chunkAt(Chunk.Offset);
  for (size_t O = 0; O + Size <= Bytes; O += Size) {
    if (std::string Why = judgeElement(Chunk, O, Known); !Why.empty())
      noteWrong(Chunk, O, Why);
    const double Expected = valueAt(Chunk.Expected, O, Type);
    const double Got = valueAt(Chunk.Got, O, Type);
    if (!Known || O / Size >= DoubleValues.size() || !std::isfinite(Expected) ||
        !std::isfinite(DoubleValues[O / Size]))
      continue;
    const RoundingModel::Element E = Original.elementAt(*Known, O, Expected);
    const double Apart = (DoubleValues[O / Size] - E.Mean) / E.Sigma;
    if (E.Unstable || std::fabs(Apart) > MostSigmas)
      continue; // it went another way
    const double Error = (Got - DoubleValues[O / Size]) / E.Sigma;
    const double Own = (Expected - DoubleValues[O / Size]) / E.Sigma;
    ++InDouble;
    ErrorSquares += Error * Error;
    OriginalErrorSquares += Own * Own;
    ApartSquares += Apart * Apart;
  }
  if (const size_t Rest = Bytes % Size;
      Rest && !sameBits(Chunk.Expected, Chunk.Got, Bytes - Rest, Rest))
    noteWrong(Chunk, Bytes - Rest, ", a part of an element");
  if (Known)
    for (const auto &[Exponent, Shifts] : Known->Shifts)
      for (size_t I = 0; I < Shifts.size(); ++I) {
        const double Sigma = Original.commonSigma(std::ldexp(1.0, Exponent));
        Upward.Replays[I] += Shifts[I].Upward / Sigma;
        Outward.Replays[I] += Shifts[I].Outward / Sigma;
      }
}

void ToleranceCheck::MeanTest::add(double Expected, double D, double Own) {
  uint64_t Hash = 0;
  std::memcpy(&Hash, &Expected, sizeof(Hash));
  Hash *= 0x9e3779b97f4a7c15; // the golden ratio: Knuth's multiplicative hash
  Group &G = Groups[Hash >> (64 - GroupBits)];
  ++G.Elements;
  G.Sum += D;
  Sum += D;
  OriginalSum += Own;
}

Bias ToleranceCheck::MeanTest::bias(uint64_t Elements) const {
  const double N = double(Elements);
  Bias Result{Sum / N, OriginalSum / N, 0};
  double Apart = 0, Used = 0, Mean = 0, Together = 0;
  for (const Group &G : Groups) {
    const double D = G.Sum - double(G.Elements) * Result.Mean;
    Apart += D * D;
    Used += G.Elements > 0;
  }
  for (double Replay : Replays)
    Mean += Replay / Count;
  for (double Replay : Replays)
    Together += (Replay - Mean) * (Replay - Mean) / (Count - 1);
  Result.StandardError = std::sqrt(std::max(Apart, Together)) / N;
  if (Used < LeastGroups)
    Result.StandardError = std::numeric_limits<double>::infinity();
  return Result;
}

Deviation ToleranceCheck::deviation() const {
  Deviation Result;
  Result.Elements = Elements;
  Result.Largest = Largest;
  if (!Elements)
    return Result;
  Result.Rms = std::sqrt(Squares / double(Elements));
  Result.Upward = Upward.bias(Elements);
  Result.Outward = Outward.bias(Elements);
  Result.ElementsInDouble = InDouble;
  if (InDouble) {
    Result.Error = std::sqrt(ErrorSquares / double(InDouble));
    Result.OriginalError = std::sqrt(OriginalErrorSquares / double(InDouble));
    Result.Apart = std::sqrt(ApartSquares / double(InDouble));
  }
  return Result;
}

std::string ToleranceCheck::judgeBuffer() const {
  const Deviation D = deviation();
  if (D.Rms > MostRms)
    return format("differs by %.3g sigma (RMS of %llu elements), %g are "
                  "allowed; the largest difference is %.3g sigma",
                  D.Rms, static_cast<unsigned long long>(D.Elements), MostRms,
                  D.Largest);
  if (D.Upward.counts())
    return describeBias(D.Upward, D.Upward.Mean > 0 ? "high" : "low");
  if (D.Outward.counts())
    return describeBias(D.Outward,
                        D.Outward.Mean > 0 ? "far from zero" : "near to zero");
  if (D.comparesInDouble() &&
      D.Error > ErrorFactor * std::max(D.OriginalError, LeastError))
    return format(
        "is off by %.3g sigma (RMS) from an evaluation in double, "
        "the original by %.3g; %g times that is allowed, and %g sigma",
        D.Error, D.OriginalError, ErrorFactor, ErrorFactor * LeastError);
  return {};
}

Judgement ToleranceCheck::verdict(bool Complete) const {
  if (WrongElements)
    return {Outcome::Wrong,
            format("%s (%s%llu wrong %s)", First.c_str(),
                   Complete ? "" : "at least ",
                   static_cast<unsigned long long>(WrongElements),
                   WrongElements == 1 ? "element" : "elements")};
  if (!Complete || User)
    return {};
  const std::string Why = judgeBuffer();
  if (Why.empty())
    return {};
  return {Outcome::Wrong, Original.buffer().Name + " " + Why};
}

std::string ToleranceCheck::describe() const {
  const Deviation D = deviation();
  const std::string Found =
      format("differs by at most %.3g sigma, RMS %.3g sigma, in %llu elements",
             D.Largest, D.Rms, static_cast<unsigned long long>(D.Elements));
  if (!User && D.ElementsInDouble && !D.comparesInDouble())
    return Original.buffer().Name + " " + Found +
           "; an evaluation in double is no nearer to the exact results than "
           "the original is";
  if (!User && D.comparesInDouble())
    return Original.buffer().Name + " " + Found +
           format("; off by %.3g sigma (RMS) from an evaluation in double, the "
                  "original by %.3g",
                  D.Error, D.OriginalError);
  if (!User)
    return Original.buffer().Name + " " + Found;
  return Original.buffer().Name + " " + Found +
         format("; judged by the tolerance given (absolute %.3g, relative "
                "%.3g), not by rounding",
                User->Absolute, User->Relative);
}

} // namespace r3::trust
