// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Relocate.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace r3::trust {

namespace {

/// The least multiple of Alignment that is longer than More and brings Begin to
/// an odd one.
uint64_t wayFrom(uint64_t Begin, uint64_t Alignment, uint64_t More) {
  const uint64_t Least = Begin & Alignment ? 2 * Alignment : Alignment;
  const uint64_t Step = 2 * Alignment;
  return Least > More ? Least : Least + ((More - Least) / Step + 1) * Step;
}

} // namespace

Relocation::Relocation(const Recording &R,
                       const std::vector<uint64_t> &Alignments) {
  struct Placed {
    uint64_t Begin, End, Alignment;
    size_t Allocation;
  };
  std::vector<Placed> All;
  for (size_t I = 0; I < R.Allocations.size(); ++I)
    if (const RecordedAllocation &A = R.Allocations[I];
        A.Kind != MemoryKind::Global)
      All.push_back({A.Address, A.Address + A.Size, Alignments[I], I});
  std::sort(All.begin(), All.end(),
            [](auto &A, auto &B) { return A.Begin < B.Begin; });
  uint64_t LastEnd = 0, LastBy = 0;
  for (size_t From = 0, To; From < All.size(); From = To) {
    uint64_t Alignment = All[From].Alignment;
    for (To = From + 1; To < All.size() && All[To].Begin == All[To - 1].End;
         ++To)
      Alignment = std::max(Alignment, All[To].Alignment);
    // What came before has come nearer by LastBy.
    const uint64_t Gap = All[From].Begin - LastEnd;
    const uint64_t By =
        wayFrom(All[From].Begin, Alignment, LastBy > Gap ? LastBy - Gap : 0);
    for (size_t I = From; I < To; ++I)
      Moves.push_back({All[I].Begin, All[I].End, By, All[I].Allocation});
    LastEnd = All[To - 1].End;
    LastBy = By;
  }
}

const Relocation::Move *Relocation::find(uint64_t Word) const {
  auto Next =
      std::upper_bound(Moves.begin(), Moves.end(), Word,
                       [](uint64_t W, const Move &M) { return W < M.Begin; });
  if (Next == Moves.begin())
    return nullptr;
  --Next;
  return Word <= Next->End ? &*Next : nullptr;
}

std::vector<Relocation::ArgumentWord>
Relocation::argumentWords(const Recording &R) const {
  std::set<size_t> Words; // that may hold an address
  for (const ArgumentField &F : R.Fields) {
    const bool Wide = F.Size == 8 && (F.Type == ValueType::Pointer ||
                                      F.Type == ValueType::I64);
    if (Wide)
      Words.insert(F.Offset);
    if (F.Type == ValueType::Bytes)
      for (size_t At = (F.Offset + 7) / 8 * 8; At + 8 <= F.Offset + F.Size;
           At += 8)
        Words.insert(At);
  }
  std::vector<ArgumentWord> Found;
  for (size_t At : Words) {
    uint64_t Word;
    std::memcpy(&Word, R.Arguments.data() + At, 8);
    if (const Move *M = find(Word))
      Found.push_back({At, M->Allocation});
  }
  return Found;
}

Recording Relocation::apply(const Recording &R) const {
  Recording Moved = R;
  for (RecordedAllocation &A : Moved.Allocations)
    if (A.Kind != MemoryKind::Global)
      A.Address += find(A.Address)->By;
  for (const ArgumentWord &W : argumentWords(R)) {
    uint64_t Word;
    std::memcpy(&Word, R.Arguments.data() + W.Offset, 8);
    Word += find(Word)->By;
    std::memcpy(Moved.Arguments.data() + W.Offset, &Word, 8);
  }
  return Moved;
}

} // namespace r3::trust
