// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Intervals.h"

#include <algorithm>
#include <bit>

namespace r3 {

void IntervalSet::append(Interval Next) {
  if (Next.Begin >= Next.End)
    return;
  if (!List.empty() && List.back().End == Next.Begin)
    List.back().End = Next.End;
  else
    List.push_back(Next);
}

void IntervalSet::appendBits(std::span<const uint32_t> Words, uint64_t Bit) {
  for (uint32_t Word : Words) {
    for (uint64_t At = 0; Word;) {
      const unsigned Skip = std::countr_zero(Word);
      At += Skip;
      Word >>= Skip;
      const unsigned Run = std::countr_one(Word);
      append({Bit + At, Bit + At + Run});
      At += Run;
      Word = Run == 32 ? 0 : Word >> Run;
    }
    Bit += 32;
  }
}

uint64_t IntervalSet::bytes() const {
  uint64_t Sum = 0;
  for (const Interval &I : List)
    Sum += I.size();
  return Sum;
}

std::vector<Interval> IntervalSet::within(uint64_t Begin, uint64_t End) const {
  std::vector<Interval> Result;
  auto At =
      std::partition_point(List.begin(), List.end(),
                           [&](const Interval &I) { return I.End <= Begin; });
  for (; At != List.end() && At->Begin < End; ++At)
    Result.push_back({std::max(At->Begin, Begin), std::min(At->End, End)});
  return Result;
}

IntervalSet IntervalSet::minus(const IntervalSet &Other) const {
  IntervalSet Result;
  auto Next = Other.List.begin();
  for (Interval I : List) {
    while (Next != Other.List.end() && Next->End <= I.Begin)
      ++Next;
    for (auto Cut = Next; Cut != Other.List.end() && Cut->Begin < I.End;
         ++Cut) {
      Result.append({I.Begin, Cut->Begin});
      I.Begin = std::min(Cut->End, I.End);
    }
    Result.append(I);
  }
  return Result;
}

void IntervalSet::write(ByteWriter &Out) const {
  Out.u64(List.size());
  for (const Interval &I : List) {
    Out.u64(I.Begin);
    Out.u64(I.End);
  }
}

IntervalSet IntervalSet::read(ByteReader &In) {
  IntervalSet Result;
  const size_t Count = In.count(16);
  for (size_t I = 0; I < Count; ++I) {
    const uint64_t Begin = In.u64();
    const Interval Next{Begin, In.u64()};
    if (Next.Begin >= Next.End || (I && Next.Begin <= Result.List.back().End)) {
      In.reject("intervals out of order");
      return {};
    }
    Result.List.push_back(Next);
  }
  return Result;
}

} // namespace r3
