// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reservation, creation and adoption. Nothing is ever given back: the process
// ends instead.
#include "wrapper/replay/ReplayMemory.h"

#include "wrapper/replay/ReadOnly.h"

#include <algorithm>
#include <unistd.h>

namespace r3::replay {

namespace {
constexpr uint64_t WaitMs = 120000;
/// Left to variants (local memory, code) and to the cache flush.
constexpr uint64_t HeadroomBytes = 1ull << 30;
} // namespace

Error ReplayMemory::reserve(const ReplayPlan &Plan) {
  for (const MemoryRange &W : Plan.Windows) {
    auto Got = D.reserve(W.Begin, W.Size);
    if (!Got || *Got != W.Begin)
      return fail(ErrorCode::NotFound,
                  "address 0x%llx (%llu MiB) is taken in this process%s%s",
                  static_cast<unsigned long long>(W.Begin),
                  static_cast<unsigned long long>(W.Size >> 20),
                  Got ? "" : ": ", Got ? "" : Got.error().message().c_str());
  }
  return {};
}

bool ReplayMemory::fitsTwice(const ReplayPlan &Plan) const {
  const uint64_t Memory = D.identity().MemoryBytes;
  const uint64_t Used = Plan.segmentBytes() + Plan.PoolBytes;
  return !Memory || Used + std::min(HeadroomBytes, Memory / 8) <= Memory;
}

Error ReplayMemory::mapSegments(const ReplayPlan &Plan,
                                const std::vector<MemoryHandle> &Memory) {
  for (size_t I = 0; I < Plan.Segments.size(); ++I) {
    const MemoryRange &S = Plan.Segments[I];
    if (Error E = D.map(S.Begin, S.Size, Memory[I]))
      return E;
  }
  return {};
}

Error ReplayMemory::reservePool(uint64_t Bytes) {
  auto At = D.reserve(/*Wanted=*/0, Bytes);
  if (!At)
    return At.error().in("reserving addresses for pristine copies");
  PoolAt = *At;
  PoolBytes = Bytes;
  return {};
}

Expected<std::vector<OwnedFd>> ReplayMemory::create(const ReplayPlan &Plan) {
  std::vector<OwnedFd> Fds;
  std::vector<MemoryHandle> Memory;
  for (const MemoryRange &S : Plan.Segments) {
    auto M = D.createMemory(S.Size);
    if (!M)
      return M.error().in(
          format("%llu MiB at recorded addresses",
                 static_cast<unsigned long long>(Plan.segmentBytes() >> 20)));
    auto Fd = D.exportMemory(*M);
    if (!Fd)
      return Fd.error();
    Memory.push_back(*M);
    Fds.emplace_back(*Fd);
  }
  if (Error E = mapSegments(Plan, Memory))
    return E;
  if (fitsTwice(Plan)) {
    auto M = D.createMemory(Plan.PoolBytes);
    if (M) {
      auto Fd = D.exportMemory(*M);
      if (!Fd)
        return Fd.error();
      Pool = *M;
      Fds.emplace_back(*Fd);
      if (Error E = reservePool(Plan.PoolBytes))
        return E;
      return Fds;
    }
    if (M.error().code() != ErrorCode::NoSpace)
      return M.error();
  }
  auto File = memoryFile("r3-pristine", Plan.PoolBytes);
  if (!File)
    return File.error();
  auto Copy = OwnedFd(dup(File->get()));
  PoolFile = std::move(*File);
  Fds.push_back(std::move(Copy));
  return Fds;
}

Error ReplayMemory::adopt(const ReplayPlan &Plan, std::vector<OwnedFd> Fds,
                          bool HostPool) {
  if (Fds.size() != Plan.Segments.size() + 1)
    return fail(ErrorCode::Damaged, "%zu descriptors for %zu segments",
                Fds.size(), Plan.Segments.size());
  std::vector<MemoryHandle> Memory;
  for (size_t I = 0; I < Plan.Segments.size(); ++I) {
    auto M = D.importMemory(Fds[I].get(), Plan.Segments[I].Size);
    if (!M)
      return M.error().in("taking over recorded memory");
    Memory.push_back(*M);
  }
  if (Error E = mapSegments(Plan, Memory))
    return E;
  if (HostPool) {
    PoolFile = std::move(Fds.back());
    return {};
  }
  auto M = D.importMemory(Fds.back().get(), Plan.PoolBytes);
  if (!M)
    return M.error().in("taking over pristine copies");
  Pool = *M;
  return reservePool(Plan.PoolBytes);
}

Error ReplayMemory::fill(const ReplayPlan &Plan,
                         const std::vector<OwnedFd> &Packs) {
  for (const PoolChunk &C : Plan.Pool)
    if (C.File >= Packs.size())
      return fail(ErrorCode::Damaged, "chunk in pack %u of %zu", C.File,
                  Packs.size());
  if (poolInHost()) {
    for (const PoolChunk &C : Plan.Pool)
      if (Error E = copyBetweenFiles(Packs[C.File].get(), C.FileOffset,
                                     PoolFile.get(), C.Offset, C.Size))
        return E;
    return {};
  }
  if (Error E = openPool())
    return E;
  std::vector<CopyJob> Jobs;
  for (const PoolChunk &C : Plan.Pool)
    Jobs.push_back(
        {Packs[C.File].get(), C.FileOffset, C.Size, PoolAt + C.Offset});
  Error E = Files.copy(Jobs);
  Error Closed = closePool();
  return E ? E : Closed;
}

Error ReplayMemory::openPool(MemoryAccess Access) {
  Pending.clear();
  if (poolInHost() || PoolIs == Access)
    return {};
  if (!PoolIs) {
    if (Error E = D.map(PoolAt, PoolBytes, Pool))
      return E;
    PoolIs = MemoryAccess::ReadWrite;
  }
  if (PoolIs != Access)
    if (Error E = D.protect(PoolAt, PoolBytes, Access))
      return E;
  PoolIs = Access;
  return {};
}

Error ReplayMemory::closePool() {
  if (!PoolIs)
    return {};
  PoolIs.reset();
  return D.unmap(PoolAt, PoolBytes);
}

Error ReplayMemory::lock(std::vector<MemoryRange> ReadOnly) {
  auto Same = [](const MemoryRange &A, const MemoryRange &B) {
    return A.Begin == B.Begin && A.Size == B.Size;
  };
  if (std::ranges::equal(Locked, ReadOnly, Same))
    return {};
  for (const MemoryRange &R : Locked)
    if (Error E = D.protect(R.Begin, R.Size, MemoryAccess::ReadWrite))
      return E;
  Locked = std::move(ReadOnly);
  for (const MemoryRange &R : Locked)
    if (Error E = D.protect(R.Begin, R.Size, MemoryAccess::Read))
      return E;
  tellDeniedWrites(Locked);
  return {};
}

uint64_t ReplayMemory::lockedBytes() const {
  uint64_t Sum = 0;
  for (const MemoryRange &R : Locked)
    Sum += R.Size;
  return Sum;
}

Error ReplayMemory::makeWritable(Address Where, uint64_t Size) {
  const bool IsLocked = std::ranges::any_of(Locked, [&](const MemoryRange &R) {
    return Where < R.end() && R.Begin < Where + Size;
  });
  return IsLocked ? lock({}) : Error();
}

Error ReplayMemory::copyFromPool(uint64_t Offset, uint64_t Size, Address To,
                                 StreamHandle Stream) {
  if (!poolInHost())
    return D.copy(To, PoolAt + Offset, Size, Stream);
  Pending.push_back({PoolFile.get(), Offset, Size, To});
  return {};
}

Error ReplayMemory::hashPool(uint64_t Offset, uint64_t Size, LeafHash *Out,
                             StreamHandle Stream) {
  if (!poolInHost())
    return D.hashLeaves(PoolAt + Offset, Size, Out, Stream);
  std::vector<uint8_t> Bytes(Size);
  if (Error E = readAt(PoolFile.get(), Bytes.data(), Size, Offset))
    return E;
  for (uint64_t At = 0; At < Size; At += LeafBytes)
    *Out++ = leafHash({&Bytes[At], std::min<uint64_t>(LeafBytes, Size - At)});
  return {};
}

Error ReplayMemory::finishCopies(StreamHandle Stream) {
  if (!Pending.empty())
    if (Error E = Files.copy(Pending))
      return E;
  Pending.clear();
  return D.synchronize(Stream, WaitMs);
}

} // namespace r3::replay
