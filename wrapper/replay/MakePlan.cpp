// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From manifests to a plan. Manifests may come from elsewhere: every number in
// them is checked before it is used.
#include "wrapper/replay/Plan.h"

#include <algorithm>
#include <unordered_map>

namespace r3::replay {

namespace {

constexpr uint64_t AddressLimit = 1ull << 57;
constexpr uint64_t PoolAlignment = 256;

uint64_t roundDown(uint64_t Value, uint64_t To) { return Value / To * To; }
uint64_t roundUp(uint64_t Value, uint64_t To) {
  return roundDown(Value + To - 1, To);
}

Error checkAllocation(const RecordedAllocation &A) {
  if (!A.Size || A.Size > AddressLimit || A.Address > AddressLimit - A.Size)
    return fail(ErrorCode::Damaged, "allocation at 0x%llx has size %llu",
                static_cast<unsigned long long>(A.Address),
                static_cast<unsigned long long>(A.Size));
  const uint64_t Chunks = (A.Size + ChunkBytes - 1) / ChunkBytes;
  if (A.Before.size() != Chunks)
    return fail(ErrorCode::Damaged,
                "allocation at 0x%llx has %zu chunks, its size needs %llu",
                static_cast<unsigned long long>(A.Address), A.Before.size(),
                static_cast<unsigned long long>(Chunks));
  for (const ChangedChunk &C : A.After)
    if (C.Chunk >= Chunks)
      return fail(ErrorCode::Damaged,
                  "allocation at 0x%llx: changed chunk %llu of %llu",
                  static_cast<unsigned long long>(A.Address),
                  static_cast<unsigned long long>(C.Chunk),
                  static_cast<unsigned long long>(Chunks));
  if (A.Kind == MemoryKind::Global && A.Global.empty())
    return fail(ErrorCode::Damaged, "a module global has no name");
  return {};
}

Error checkSymbolic(const Recording &R) {
  for (const SymbolicWord &S : R.Symbolic) {
    const bool InArguments = S.Allocation == 0xffffffffu;
    if (!InArguments && S.Allocation >= R.Allocations.size())
      return fail(ErrorCode::Damaged, "symbolic word in allocation %u of %zu",
                  S.Allocation, R.Allocations.size());
    const uint64_t Size =
        InArguments ? R.Arguments.size() : R.Allocations[S.Allocation].Size;
    if (Size < 8 || S.Offset > Size - 8)
      return fail(ErrorCode::Damaged,
                  "symbolic word %s at offset %llu of %llu bytes",
                  S.Name.c_str(), static_cast<unsigned long long>(S.Offset),
                  static_cast<unsigned long long>(Size));
    if (S.What == SymbolicWord::Kind::Function)
      return fail(ErrorCode::CannotRunHere,
                  "memory holds the address of function %s, which cannot be "
                  "had again",
                  S.Name.c_str());
  }
  return {};
}

/// Ranges rounded outwards to Unit, sorted, touching ones merged.
std::vector<MemoryRange> roundAndMerge(std::span<const Recording> Recordings,
                                       uint64_t Unit) {
  std::vector<MemoryRange> All;
  for (const Recording &R : Recordings)
    for (const RecordedAllocation &A : R.Allocations)
      if (A.Kind != MemoryKind::Global) {
        const uint64_t Begin = roundDown(A.Address, Unit);
        All.push_back({Begin, roundUp(A.Address + A.Size, Unit) - Begin});
      }
  std::sort(All.begin(), All.end(),
            [](auto &A, auto &B) { return A.Begin < B.Begin; });
  std::vector<MemoryRange> Merged;
  for (const MemoryRange &R : All) {
    if (Merged.empty() || R.Begin > Merged.back().end())
      Merged.push_back(R);
    else
      Merged.back().Size =
          std::max(Merged.back().end(), R.end()) - Merged.back().Begin;
  }
  return Merged;
}

class Builder {
public:
  Builder(ChunkSource &Source, ReplayPlan &Plan) : Source(Source), Plan(Plan) {}

  Error addLaunch(const Recording &R) {
    PlanLaunch L;
    L.Kernel = R.Name;
    L.Config = R.Launch;
    L.Arguments = R.Arguments;
    L.Symbolic = R.Symbolic;
    for (const RecordedAllocation &A : R.Allocations) {
      if (Error E = checkAllocation(A))
        return E;
      if (Error E = addAllocation(L, A))
        return E;
    }
    if (Error E = checkSymbolic(R))
      return E;
    if (Error E = addGuards(L))
      return E;
    Plan.Launches.push_back(std::move(L));
    return {};
  }

private:
  Error addAllocation(PlanLaunch &L, const RecordedAllocation &A) {
    PlanRange P;
    P.What = A.Kind == MemoryKind::Global ? PlanRange::Kind::Global
                                          : PlanRange::Kind::Memory;
    P.Address = A.Address;
    P.Size = A.Size;
    P.Global = A.Global;
    P.Before = A.Before;
    for (uint64_t I = 0; I < P.chunks(); ++I) {
      auto Offset = poolOffset(
          A.Before[I], static_cast<uint32_t>(Recording::chunkSize(A.Size, I)));
      if (!Offset)
        return Offset.error().in(
            format("chunk %llu of the allocation at 0x%llx",
                   static_cast<unsigned long long>(I),
                   static_cast<unsigned long long>(A.Address)));
      P.PoolOffset.push_back(*Offset);
    }
    L.Ranges.push_back(std::move(P));
    return {};
  }

  Expected<uint64_t> poolOffset(const Digest &Name, uint32_t Size) {
    if (auto Found = Known.find(Name); Found != Known.end()) {
      // The digest says nothing about the size: a forged manifest could.
      if (Found->second.Size != Size)
        return fail(ErrorCode::Damaged, "chunk %s has two sizes",
                    Name.hex().c_str());
      return Found->second.Offset;
    }
    auto Place = Source.find(Name, Size);
    if (!Place)
      return Place.error();
    PoolChunk C;
    C.Offset = Plan.PoolBytes;
    C.Size = Size;
    C.File = Place->File;
    C.FileOffset = Place->Offset;
    Plan.Pool.push_back(C);
    Plan.PoolBytes += roundUp(Size, PoolAlignment);
    Known.emplace(Name, C);
    return C.Offset;
  }

  /// Covers what the recording does not use of the segments.
  Error addGuards(PlanLaunch &L) {
    std::vector<MemoryRange> Used;
    for (const PlanRange &P : L.Ranges)
      if (P.What == PlanRange::Kind::Memory)
        Used.push_back({P.Address, P.Size});
    std::sort(Used.begin(), Used.end(),
              [](auto &A, auto &B) { return A.Begin < B.Begin; });
    for (size_t I = 1; I < Used.size(); ++I)
      if (Used[I].Begin < Used[I - 1].end())
        return fail(ErrorCode::Damaged,
                    "allocations at 0x%llx and 0x%llx overlap",
                    static_cast<unsigned long long>(Used[I - 1].Begin),
                    static_cast<unsigned long long>(Used[I].Begin));
    size_t Next = 0;
    for (const MemoryRange &S : Plan.Segments) {
      uint64_t From = S.Begin;
      for (; Next < Used.size() && Used[Next].Begin < S.end(); ++Next) {
        addGuard(L, From, Used[Next].Begin);
        From = Used[Next].end();
      }
      addGuard(L, From, S.end());
    }
    return {};
  }

  static void addGuard(PlanLaunch &L, uint64_t From, uint64_t To) {
    const uint64_t Aligned = std::min(To, roundUp(From, GuardAlignment));
    for (auto [Begin, End] : {std::pair{From, Aligned}, {Aligned, To}}) {
      if (Begin >= End)
        continue;
      PlanRange P;
      P.What = PlanRange::Kind::Guard;
      P.Address = Begin;
      P.Size = End - Begin;
      P.Before = guardDigests(P.Size);
      L.Ranges.push_back(std::move(P));
    }
  }

  ChunkSource &Source;
  ReplayPlan &Plan;
  std::unordered_map<Digest, PoolChunk> Known;
};

} // namespace

std::vector<Digest> guardDigests(uint64_t Size) {
  static const std::vector<uint8_t> Pattern(ChunkBytes, GuardByte);
  static const Digest Whole = chunkDigest(Pattern);
  std::vector<Digest> Result(Size / ChunkBytes, Whole);
  if (const uint64_t Rest = Size % ChunkBytes)
    Result.push_back(chunkDigest(std::span(Pattern).first(Rest)));
  return Result;
}

Expected<ReplayPlan> makePlan(std::span<const Recording> Recordings,
                              uint64_t Granularity, uint64_t Alignment,
                              ChunkSource &Source) {
  ReplayPlan Plan;
  for (const Recording &R : Recordings)
    for (const RecordedAllocation &A : R.Allocations)
      if (Error E = checkAllocation(A))
        return E;
  Plan.Windows = roundAndMerge(Recordings, std::max(Granularity, Alignment));
  Plan.Segments = roundAndMerge(Recordings, Granularity);
  Builder B(Source, Plan);
  for (const Recording &R : Recordings)
    if (Error E = B.addLaunch(R))
      return E;
  Plan.PoolBytes = roundUp(std::max<uint64_t>(Plan.PoolBytes, 1), Granularity);
  return Plan;
}

} // namespace r3::replay
