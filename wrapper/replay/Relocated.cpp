// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant on the recorded inputs at other addresses (Relocate.h). Not where
// memory may hold addresses: nobody knows which words of it those are.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Relocate.h"

#include "runtime/support/Expression.h"

#include <algorithm>
#include <cstring>

namespace r3::replay {

namespace {

/// Devices hash memory that begins at a multiple of 16; other memory is hashed
/// through the host, as a whole.
constexpr uint64_t MostBytes = 2ull << 30;

/// Guards that the variant has ask for more.
void raise(std::vector<uint64_t> &Alignments, const Variant &V,
           const Recording &R) {
  for (const std::string &Text : V.Guards) {
    auto G = Guard::parse(Text);
    if (!G || G->What != Guard::Kind::Align)
      continue;
    for (const ArgumentField &F : R.Fields) {
      if (F.Name != G->Name || F.Size != 8)
        continue;
      uint64_t Address;
      std::memcpy(&Address, R.Arguments.data() + F.Offset, 8);
      for (size_t I = 0; I < R.Allocations.size(); ++I)
        if (const RecordedAllocation &A = R.Allocations[I];
            Address >= A.Address && Address < A.Address + A.Size)
          Alignments[I] =
              std::max(Alignments[I], static_cast<uint64_t>(G->Number));
    }
  }
}

} // namespace

std::vector<uint64_t> alignmentsNeeded(const LoadedRecording &L,
                                       const Footprint *Print,
                                       const Variant &V) {
  std::vector<uint64_t> Alignments;
  for (size_t I = 0; I < L.Manifest.Allocations.size(); ++I)
    Alignments.push_back(Print ? Print->Ranges[I].Alignment : 1);
  raise(Alignments, V, L.Manifest);
  return Alignments;
}

Expected<bool> holdsAddress(const KernelSet &Kernel, const LoadedRecording &L,
                            const Footprint *Print,
                            const trust::Relocation &To) {
  for (size_t I = 0; I < L.Manifest.Allocations.size(); ++I) {
    IntervalSet Rest;
    if (!Print) {
      Rest.append({0, L.Manifest.Allocations[I].Size});
    } else {
      const RangeFootprint &F = Print->Ranges[I];
      Rest = F.Read.minus(F.Float).minus(F.Double);
    }
    std::vector<uint8_t> Bytes;
    uint64_t Have = UINT64_MAX; // chunk in Bytes
    auto at = [&](uint64_t Offset) -> Expected<uint8_t> {
      const uint64_t Chunk = Offset / ChunkBytes;
      if (Chunk != Have) {
        auto Read = Kernel.chunk(L.Manifest.Allocations[I].Before[Chunk]);
        if (!Read)
          return Read.error();
        Bytes = std::move(*Read);
        Have = Chunk;
      }
      return Bytes[Offset % ChunkBytes];
    };
    for (const Interval &Part : Rest.intervals()) {
      uint64_t Word = 0;
      for (uint64_t Offset = Part.Begin; Offset < Part.End; ++Offset) {
        auto Byte = at(Offset);
        if (!Byte)
          return Byte.error();
        Word = Word >> 8 | uint64_t(*Byte) << 56;
        if (Offset - Part.Begin >= 7 && (Offset + 1) % 4 == 0 &&
            To.isAddress(Word))
          return true;
      }
    }
  }
  return false;
}

Session::CheckOutcome Session::checkRelocated(Evaluation &E) {
  if (std::string Why = untraced(E); !Why.empty())
    return {{}, Why};
  DerivedLaunches Moved;
  auto Chunks = DerivedChunks::create();
  if (!Chunks)
    return {{}, Chunks.error().message()};
  Moved.Chunks = std::make_shared<DerivedChunks>(std::move(*Chunks));
  std::string Why;
  for (size_t Index : E.Recordings) {
    const LoadedRecording &L = Kernel->recordings()[Index];
    const Footprint &Print = *Preparations[Index].Print;
    const trust::Relocation To(L.Manifest,
                               alignmentsNeeded(L, &Print, E.Change));
    auto Holds = holdsAddress(*Kernel, L, &Print, To);
    if (!Holds)
      return {{}, Holds.error().message()};
    if (*Holds)
      Why = "memory may hold addresses";
    else if (To.empty())
      Why = "no memory is used";
    else if (L.Manifest.footprint() > MostBytes)
      Why = format("more than %llu MiB",
                   static_cast<unsigned long long>(MostBytes >> 20));
    else {
      Moved.List.push_back(To.apply(L.Manifest));
      Moved.Origins.push_back(Index);
    }
  }
  if (Moved.List.empty())
    return {{}, Why};
  auto Done = runDerived(Moved, E, nullptr);
  if (!Done)
    return {{}, Done.error().message()};
  if (!Done->Verdict.ok())
    return {
        {Done->Verdict.Result, "at other addresses: " + Done->Verdict.Message},
        ""};
  if (!Done->Made)
    return {{}, "the original cannot be moved: " + Done->Why};
  return {{Outcome::Ok, format("%zu of %zu recordings moved", Done->Made,
                               E.Recordings.size()) +
                            Done->dropped()},
          ""};
}

} // namespace r3::replay
