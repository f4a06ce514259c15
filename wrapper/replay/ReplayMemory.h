// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device memory of a replay: reserved windows, mapped segments at the
// recorded addresses, and the pool of pristine contents. All physical memory
// is exported, so that whoever holds the descriptors keeps it alive, and a new
// process maps the same memory with its contents.
//
// The pool lies in device memory, at an address that is mapped only between
// openPool and closePool: not while a variant runs by itself, and for reading
// alone while a batch of timed launches runs. Where memory for both
// does not fit, the pool is an anonymous file in host memory.
#pragma once

#include "wrapper/replay/Copier.h"
#include "wrapper/replay/Descriptors.h"
#include "wrapper/replay/Plan.h"

#include "runtime/device/Device.h"

#include <optional>
#include <vector>

namespace r3::replay {

class ReplayMemory {
public:
  explicit ReplayMemory(Device &D) : D(D), Files(D) {}

  /// Reserves all windows. NotFound where an address is not to be had in this
  /// process (a new one may be luckier).
  Error reserve(const ReplayPlan &Plan);
  /// New memory, mapped. Descriptors: one a segment, then the pool's.
  Expected<std::vector<OwnedFd>> create(const ReplayPlan &Plan);
  /// Memory that another process made, mapped with its contents.
  Error adopt(const ReplayPlan &Plan, std::vector<OwnedFd> Fds, bool HostPool);
  /// Reads the pool's contents from the packs.
  Error fill(const ReplayPlan &Plan, const std::vector<OwnedFd> &Packs);

  bool poolInHost() const { return static_cast<bool>(PoolFile); }

  /// Maps the pool, or changes how it is mapped (no-op for a pool in host
  /// memory).
  Error openPool(MemoryAccess Access = MemoryAccess::ReadWrite);
  /// Where bytes of the pool are while it is open; not of one in host memory.
  Address poolAddress(uint64_t Offset) const { return PoolAt + Offset; }
  Error closePool();
  /// Maps these parts of the segments for reading, and all others for writing,
  /// too. Nothing must be at work in them.
  Error lock(std::vector<MemoryRange> ReadOnly);
  uint64_t lockedBytes() const;
  /// For who wants to write there: nothing is locked any more where some of it
  /// was.
  Error makeWritable(Address Where, uint64_t Size);

  /// Queues a copy of pool bytes to a device address; finished by finishCopies.
  /// Only while the pool is open.
  Error copyFromPool(uint64_t Offset, uint64_t Size, Address To,
                     StreamHandle Stream);
  Error finishCopies(StreamHandle Stream);
  /// Queues the hashes of a chunk of the pool, which is open; Out is pinned
  /// host memory.
  Error hashPool(uint64_t Offset, uint64_t Size, LeafHash *Out,
                 StreamHandle Stream);

private:
  Error mapSegments(const ReplayPlan &Plan,
                    const std::vector<MemoryHandle> &Memory);
  Error reservePool(uint64_t Bytes);
  bool fitsTwice(const ReplayPlan &Plan) const;

  Device &D;
  Copier Files;
  MemoryHandle Pool = 0;
  uint64_t PoolBytes = 0;
  Address PoolAt = 0;
  std::optional<MemoryAccess> PoolIs; // mapped
  OwnedFd PoolFile;
  std::vector<MemoryRange> Locked;
  std::vector<CopyJob> Pending; // from the pool in host memory
};

} // namespace r3::replay
