// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The A/A comparison of the original and the check of a variant against it.
// Both see only chunks whose digests differ; all others are equal by digest.
#include "wrapper/trust/Verdict.h"

#include "wrapper/trust/Values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace r3::trust {

namespace {

constexpr double FloatLimit = 0x1p-10;
constexpr double DoubleLimit = 0x1p-30;

bool sameBits(std::span<const uint8_t> A, std::span<const uint8_t> B,
              size_t Offset, size_t Size) {
  return std::memcmp(A.data() + Offset, B.data() + Offset, Size) == 0;
}

/// Calls Visit(offset, size) for each element, a short one at the end
/// included.
template <typename Function>
void forEachElement(size_t Bytes, ValueType Type, Function Visit) {
  const size_t Size = elementSize(Type);
  for (size_t Offset = 0; Offset < Bytes; Offset += Size)
    Visit(Offset, std::min(Size, Bytes - Offset));
}

/// Whether two values that differ in their bits may be compared as numbers.
bool areNumbers(std::span<const uint8_t> A, std::span<const uint8_t> B,
                size_t Offset, size_t Size, ValueType Type) {
  return hasTolerance(Type) && Size == elementSize(Type) &&
         !comparesByBits(valueAt(A, Offset, Type), Type) &&
         !comparesByBits(valueAt(B, Offset, Type), Type);
}

} // namespace

std::string describeElement(const Buffer &Where, uint64_t Offset,
                            ValueType Type, std::span<const uint8_t> Expected,
                            std::span<const uint8_t> Got, size_t Local) {
  return format("%s[%llu]: expected %s, got %s", Where.Name.c_str(),
                static_cast<unsigned long long>(Offset / elementSize(Type)),
                textAt(Expected, Local, Type).c_str(),
                textAt(Got, Local, Type).c_str());
}

std::vector<size_t> differing(std::span<const Digest> Expected,
                              std::span<const Digest> Got) {
  std::vector<size_t> Result;
  for (size_t I = 0; I < Expected.size(); ++I)
    if (I >= Got.size() || Expected[I] != Got[I])
      Result.push_back(I);
  return Result;
}

Judgement judgeEvidence(const Recording &R, uint64_t PoisonedBytes) {
  if (PoisonedBytes)
    return {};
  for (const RecordedAllocation &A : R.Allocations)
    for (const ChangedChunk &C : A.After)
      if (C.Chunk < A.Before.size() && A.Before[C.Chunk] != C.After)
        return {};
  return {Outcome::NotVerifiable,
          "the recorded launch changed no memory, so nothing can be compared"};
}

Baseline::Baseline(std::vector<Buffer> Buffers, std::string NextStep)
    : Buffers(std::move(Buffers)), NextStep(std::move(NextStep)),
      Noises(this->Buffers.size()) {}

void Baseline::beginReplay() {
  ++Replays;
  for (auto &[Key, R] : Ranges)
    R.SeenInReplay = false;
}

void Baseline::addChunk(const DifferingChunk &Chunk) {
  const Buffer &Where = Buffers[Chunk.Buffer];
  const size_t Bytes = Chunk.Expected.size();
  forEachElement(Bytes, Where.Type, [&](size_t Offset, size_t Size) {
    if (sameBits(Chunk.Expected, Chunk.Got, Offset, Size) ||
        areNumbers(Chunk.Expected, Chunk.Got, Offset, Size, Where.Type))
      return;
    Exactness.try_emplace(
        Chunk.Buffer,
        Judgement{Outcome::NotVerifiable,
                  "the original does not reproduce its recorded outcome: " +
                      describeElement(Where, Chunk.Offset + Offset, Where.Type,
                                      Chunk.Expected, Chunk.Got, Offset)});
  });
  const ChunkKey Key{Chunk.Buffer, Chunk.Offset};
  auto Found = Ranges.find(Key);
  if (Found == Ranges.end()) {
    if (KeptBytes + Bytes > LimitBytes) {
      Overflow = true;
      return;
    }
    KeptBytes += Bytes;
    Range Fresh;
    Fresh.Record.assign(Chunk.Expected.begin(), Chunk.Expected.end());
    // Earlier replays had the recorded digest in this chunk.
    auto First = Replays > 1 ? Chunk.Expected : Chunk.Got;
    Fresh.Low.assign(First.begin(), First.end());
    Fresh.High = Fresh.Low;
    Found = Ranges.emplace(Key, std::move(Fresh)).first;
  }
  widen(Found->second, Where.Type, Chunk.Got);
  Found->second.SeenInReplay = true;
}

void Baseline::endReplay() {
  for (auto &[Key, R] : Ranges)
    if (!R.SeenInReplay)
      widen(R, Buffers[Key.first].Type, std::vector<uint8_t>(R.Record));
}

void Baseline::widen(Range &R, ValueType Type,
                     std::span<const uint8_t> Values) {
  if (!hasTolerance(Type)) {
    // Exact types have no range; Exactness holds their verdict.
    for (size_t I = 0; I < Values.size(); ++I) {
      R.Low[I] = std::min(R.Low[I], Values[I]);
      R.High[I] = std::max(R.High[I], Values[I]);
    }
    return;
  }
  forEachElement(Values.size(), Type, [&](size_t Offset, size_t Size) {
    if (Size != elementSize(Type))
      return;
    const double Value = valueAt(Values, Offset, Type);
    if (Value < valueAt(R.Low, Offset, Type))
      std::memcpy(R.Low.data() + Offset, Values.data() + Offset, Size);
    if (Value > valueAt(R.High, Offset, Type))
      std::memcpy(R.High.data() + Offset, Values.data() + Offset, Size);
  });
}

/// Adds one chunk's spread and changed bytes to its buffer's; Rms holds the
/// sum of squares until finish divides it.
void Baseline::measure(const ChunkKey &Key, const Range &R) {
  Noise &N = Noises[Key.first];
  const ValueType Type = Buffers[Key.first].Type;
  forEachElement(R.Record.size(), Type, [&](size_t Offset, size_t Size) {
    if (!sameBits(R.Low, R.High, Offset, Size) ||
        !sameBits(R.Low, R.Record, Offset, Size))
      N.ChangedBytes += Size;
    if (!hasTolerance(Type) || Size != elementSize(Type))
      return;
    const double Value = valueAt(R.Record, Offset, Type);
    if (std::isfinite(Value))
      N.Rms += Value * Value;
    const double Width =
        valueAt(R.High, Offset, Type) - valueAt(R.Low, Offset, Type);
    if (std::isfinite(Width))
      N.Spread = std::max(N.Spread, Width);
  });
}

bool Baseline::recordInRange(size_t Index) const {
  const ValueType Type = Buffers[Index].Type;
  const double Slack = Noises[Index].Spread;
  bool Inside = true;
  for (auto It = Ranges.lower_bound({Index, 0});
       It != Ranges.end() && It->first.first == Index; ++It)
    forEachElement(It->second.Record.size(), Type, [&](size_t O, size_t Size) {
      if (Size != elementSize(Type))
        return;
      const Range &R = It->second;
      const double Value = valueAt(R.Record, O, Type);
      if (!std::isfinite(Value))
        return; // equal by bits, or Exactness has it
      if (Value < valueAt(R.Low, O, Type) - Slack ||
          Value > valueAt(R.High, O, Type) + Slack)
        Inside = false;
    });
  return Inside;
}

Judgement Baseline::judgeBuffer(size_t Index) const {
  const Buffer &Where = Buffers[Index];
  const Noise &N = Noises[Index];
  if (!recordInRange(Index))
    return {Outcome::NotVerifiable,
            "replay differs from the program: the recorded values of " +
                Where.Name + " lie outside the spread of the replays" +
                (NextStep.empty() ? "" : "; next: " + NextStep)};
  const double Limit = Where.Type == ValueType::F32 ? FloatLimit : DoubleLimit;
  if (N.Spread > Limit * N.Rms)
    return {Outcome::NotVerifiable,
            format("%s differs by up to %.3g between replays of the original, "
                   "more than %.3g of its RMS %.3g",
                   Where.Name.c_str(), N.Spread, Limit, N.Rms)};
  return {};
}

Judgement Baseline::finish() {
  std::vector<uint64_t> Elements(Buffers.size());
  for (const auto &[Key, R] : Ranges) {
    measure(Key, R);
    Elements[Key.first] +=
        R.Record.size() / elementSize(Buffers[Key.first].Type);
  }
  for (size_t I = 0; I < Noises.size(); ++I)
    if (Elements[I])
      Noises[I].Rms = std::sqrt(Noises[I].Rms / double(Elements[I]));
  if (!Exactness.empty())
    return Exactness.begin()->second;
  if (Overflow)
    return {Outcome::NotVerifiable,
            format("more than %llu MiB differ between replays of the original",
                   static_cast<unsigned long long>(LimitBytes >> 20))};
  for (size_t I = 0; I < Buffers.size(); ++I)
    if (Elements[I])
      if (Judgement J = judgeBuffer(I); !J.ok())
        return J;
  return {};
}

void VariantCheck::addChunk(const DifferingChunk &Chunk) {
  const Buffer &Where = Original.Buffers[Chunk.Buffer];
  const double Tolerance = MostSpreads * Original.Noises[Chunk.Buffer].Spread;
  auto Found = Original.Ranges.find({Chunk.Buffer, Chunk.Offset});
  const auto *Noisy = Found == Original.Ranges.end() ? nullptr : &Found->second;
  auto Accepts = [&](size_t Offset, size_t Size) {
    if (sameBits(Chunk.Expected, Chunk.Got, Offset, Size))
      return true;
    if ((Tolerance <= 0 && CloseTo <= 0) ||
        !areNumbers(Chunk.Expected, Chunk.Got, Offset, Size, Where.Type))
      return false;
    const bool Changed =
        !sameBits(Chunk.Before, Chunk.Expected, Offset, Size) ||
        (Noisy && (!sameBits(Noisy->Low, Noisy->High, Offset, Size) ||
                   !sameBits(Noisy->Low, Chunk.Expected, Offset, Size)));
    const double Expected = valueAt(Chunk.Expected, Offset, Where.Type);
    const double Allowed =
        std::max(Tolerance, CloseTo * (1 + std::fabs(Expected)));
    return Changed && std::fabs(valueAt(Chunk.Got, Offset, Where.Type) -
                                Expected) <= Allowed;
  };
  forEachElement(Chunk.Expected.size(), Where.Type,
                 [&](size_t Offset, size_t Size) {
                   if (Accepts(Offset, Size))
                     return;
                   ++WrongElements;
                   std::pair At{Chunk.Buffer, Chunk.Offset + Offset};
                   if (!First.empty() && FirstAt < At)
                     return;
                   FirstAt = At;
                   First = describeElement(Where, At.second, Where.Type,
                                           Chunk.Expected, Chunk.Got, Offset);
                 });
}

Judgement VariantCheck::verdict(bool Complete) const {
  if (!WrongElements)
    return {};
  return {Outcome::Wrong, format("%s (%s%llu wrong %s)", First.c_str(),
                                 Complete ? "" : "at least ",
                                 static_cast<unsigned long long>(WrongElements),
                                 WrongElements == 1 ? "element" : "elements")};
}

} // namespace r3::trust
