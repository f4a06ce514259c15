// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch in plain memory (Plain.h), in a process that has nothing mapped: no
// guards, no pristine copies, no digests, so that the only code that runs is
// the kernel's, and the only writes before it are copies from the packs.
#include "wrapper/replay/Runner.h"

#include <algorithm>
#include <cstring>

namespace r3::replay {

namespace {

/// The allocations of one launch, given back at its end.
class PlainMemory {
public:
  explicit PlainMemory(Device &D) : D(D) {}
  // Where the device is broken the process ends, and all with it.
  ~PlainMemory() {
    for (Address Each : Own)
      (void)D.free(Each);
  }
  Expected<Address> allocate(uint64_t Size) {
    auto Got = D.allocate(Size);
    if (Got)
      Own.push_back(*Got);
    return Got;
  }

private:
  Device &D;
  std::vector<Address> Own;
};

/// The pieces of a range that are to be filled, where the packs have them.
Expected<std::vector<CopyJob>> copiesOf(const PlanRange &P, Address Base,
                                        const IntervalSet &Filled,
                                        const ReplayPlan &Plan,
                                        std::span<const OwnedFd> Packs) {
  std::vector<CopyJob> Jobs;
  for (uint64_t C = 0; C < P.chunks(); ++C) {
    const uint64_t Begin = C * ChunkBytes;
    const auto Chunk = std::lower_bound(
        Plan.Pool.begin(), Plan.Pool.end(), P.PoolOffset[C],
        [](const PoolChunk &X, uint64_t At) { return X.Offset < At; });
    if (Chunk == Plan.Pool.end() || Chunk->Offset != P.PoolOffset[C] ||
        Chunk->File >= Packs.size())
      return fail(ErrorCode::Damaged, "a chunk is in none of %zu packs",
                  Packs.size());
    for (const Interval &I :
         Filled.within(Begin, Begin + Recording::chunkSize(P.Size, C)))
      Jobs.push_back({Packs[Chunk->File].get(),
                      Chunk->FileOffset + I.Begin - Begin, I.size(),
                      Base + I.Begin});
  }
  return Jobs;
}

/// The launch of the plan over there: ranges and addresses in the arguments.
Expected<PlanLaunch> moved(PlanLaunch L, const PlainLaunch &Plain,
                           PlainMemory &Memory) {
  std::vector<Address> By(L.Ranges.size());
  for (size_t I = 0; I < L.Ranges.size(); ++I) {
    PlanRange &P = L.Ranges[I];
    if (P.What != PlanRange::Kind::Memory)
      continue;
    auto Got = Memory.allocate(P.Size);
    if (!Got)
      return Got.error();
    By[I] = *Got - P.Address;
    P.Address = *Got;
  }
  for (const PlainLaunch::Word &W : Plain.Words) {
    if (W.Range >= By.size() || L.Arguments.size() < 8 ||
        W.Offset > L.Arguments.size() - 8)
      return fail(ErrorCode::Damaged, "an address outside of the arguments");
    uint64_t Word;
    std::memcpy(&Word, L.Arguments.data() + W.Offset, 8);
    Word += By[W.Range];
    std::memcpy(L.Arguments.data() + W.Offset, &Word, 8);
  }
  return L;
}

} // namespace

/// Copies what is to be filled, and puts in symbolic words.
Error Runner::fillPlain(PlanLaunch &L, const LoadedCode &Code, bool Original,
                        const PlainLaunch &Plain,
                        std::span<const OwnedFd> Packs) {
  std::vector<CopyJob> Jobs;
  for (size_t I = 0; I < L.Ranges.size(); ++I) {
    const PlanRange &P = L.Ranges[I];
    const auto Base = baseOf(P, Code);
    if (!Base && Original)
      return fail(ErrorCode::NotFound, "the original's code has no global %s",
                  P.Global.c_str());
    if (!Base || P.What == PlanRange::Kind::Guard)
      continue;
    auto Own = copiesOf(P, *Base, Plain.Filled[I], Plan, Packs);
    if (!Own)
      return Own.error();
    Jobs.insert(Jobs.end(), Own->begin(), Own->end());
  }
  if (Error E = Copier(D).copy(Jobs))
    return E;
  auto Patches = collect(L, Code, Original, L.Arguments);
  if (!Patches)
    return Patches.error();
  // Word by word: what lies between them may not be there.
  for (const Patch &P : *Patches)
    for (const Patch::Word &W : P.Words)
      if (Error E = D.copyToDevice(P.Begin + W.Offset, &W.Resolved, 8, Stream))
        return E;
  return D.synchronize(Stream, WaitMs);
}

RunResult Runner::runPlain(size_t Launch, const std::string &Slot,
                           const PlainLaunch &Plain, std::vector<OwnedFd> Packs,
                           const std::function<void()> &Ready,
                           const std::function<void()> &Done) {
  const auto Found = Codes.find(Slot);
  if (Found == Codes.end() || Launch >= Plan.Launches.size() ||
      Plain.Filled.size() != Plan.Launches[Launch].Ranges.size())
    return failed(fail(ErrorCode::NotFound, "launch %zu of %zu with code '%s'",
                       Launch, Plan.Launches.size(), Slot.c_str()),
                  Outcome::LaunchFailed);
  const LoadedCode &Code = Found->second;
  PlainMemory Memory(D);
  auto L = moved(Plan.Launches[Launch], Plain, Memory);
  if (!L)
    return failed(L.error(), Outcome::Crashed);
  if (Error E = fillPlain(*L, Code, Slot == OriginalSlot, Plain, Packs))
    return failed(E, Outcome::LaunchFailed);
  Packs.clear(); // before any code runs
  RunResult Result;
  Ready();
  auto Ns = launch(Code.configOf(Launch, L->Config), Code, L->Arguments,
                   /*Flush=*/false, /*Scratch=*/std::nullopt);
  Done();
  if (!Ns)
    return failed(Ns.error(), Outcome::LaunchFailed);
  Result.Ns = *Ns;
  return Result;
}

} // namespace r3::replay
