// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads memory for a record: digests of chunks (taken on the device, only the
// leaf hashes travel) and contents of chosen chunks, through staging memory
// into the saver. Copies, checks and file writes overlap: a slab goes to a
// writer as soon as its copy has completed.
#pragma once

#include "runtime/record/Saver.h"
#include "runtime/record/Staging.h"

#include <deque>
#include <span>
#include <vector>

namespace r3::record {

/// A chunk of device memory that has to be copied.
struct WantedChunk {
  Address Where = 0;
  uint32_t Size = 0;
  Digest Name;
  /// Index of its allocation: a copy may not reach from one into the next.
  uint64_t Range = 0;
};

class MemoryReader {
public:
  MemoryReader(Device &D, Staging &Slabs, StreamHandle Stream,
               uint64_t TimeoutMs);
  ~MemoryReader();

  /// Digests of all chunks, one vector a range; complete on return.
  Expected<std::vector<std::vector<Digest>>>
  digests(std::span<const AddressRange> Ranges);

  /// Copies the chunks (in address order) and hands them to Out; all copies
  /// have completed on return, writes may be under way.
  Error save(std::span<const WantedChunk> Chunks, Saver &Out);

  /// Copies a few bytes; complete on return.
  Error read(Address Where, void *To, uint64_t Size);

  /// True after a timeout: copies may still be under way into memory of ours,
  /// so nothing of it may be used again.
  bool isLost() const { return Lost; }
  /// Frees its own pinned memory (before the device goes away).
  void releaseAll();

private:
  struct Filling {
    Staging::Slab *Slab;
    uint64_t Used = 0;
    std::vector<Piece> Pieces;
    EventHandle Copied = nullptr;
  };
  struct Window {
    size_t Range;
    uint64_t Offset, Bytes;
    size_t Leaf; // in Leaves
  };

  Error fillSlab(std::span<const WantedChunk> Chunks, size_t &Next, Filling &F);
  Error close(Filling F);
  /// Hands over slabs whose copies have completed; waits for the first where
  /// Wait is set.
  Error handOver(Saver &Out, bool Wait);
  Expected<Staging::Slab *> slab(Saver &Out);
  Expected<EventHandle> event();
  Error hashWindows(std::span<const AddressRange> Ranges,
                    std::span<const Window> Windows,
                    std::vector<std::vector<Digest>> &Result);
  Error lost(Error E);

  Device &D;
  Staging &Slabs;
  StreamHandle Stream;
  uint64_t TimeoutMs;
  LeafHash *Leaves = nullptr;
  std::deque<Filling> InFlight;
  std::vector<EventHandle> Events;
  bool Lost = false;
};

} // namespace r3::record
