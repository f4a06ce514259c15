// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Digests of the chunks of several pieces of a device's memory, by as few calls
// of the device as there can be: leaf hashes are made there, all at once, and
// what a device does not hash is copied to the host.
#pragma once

#include "wrapper/replay/Plan.h"

#include "runtime/device/Device.h"
#include "runtime/support/Digest.h"

#include <vector>

namespace r3::replay {

/// Devices hash whole words; other ranges are read through the host.
inline bool hashesOnDevice(Address Base, uint64_t Size) {
  return Base % GuardAlignment == 0 && Size >= GuardAlignment;
}
inline uint64_t leavesOf(uint64_t Size) {
  return (Size + LeafBytes - 1) / LeafBytes;
}
/// Where the next thing may lie in a buffer.
inline uint64_t roundUp(uint64_t Value) { return (Value + 63) / 64 * 64; }
/// Adds the digests of chunks from those of their leaves.
void combine(std::vector<Digest> &Result, const LeafHash *Hashes,
             uint64_t Leaves);

class ChunkDigests {
public:
  /// Where: begins at a chunk. Its number.
  size_t add(AddressRange Where);
  /// Of the buffer in host memory that the device fills.
  uint64_t bytes() const {
    return roundUp(Leaves * sizeof(LeafHash)) + HostBytes;
  }
  /// Puts all that fills Buffer into Stream. Calls of the device that it takes
  /// at most: operations().
  Error queue(Device &D, uint8_t *Buffer, StreamHandle Stream) const;
  size_t operations() const;
  /// Adds the digests of one piece's chunks once Buffer is filled.
  void append(std::vector<Digest> &Result, size_t Piece,
              const uint8_t *Buffer) const;

private:
  struct Place {
    bool OnDevice;
    size_t Number; // among those of its kind
    uint64_t At;   // in leaves, or in bytes behind all leaves
  };

  std::vector<Place> Places;
  std::vector<AddressRange> Hashed, Copied;
  uint64_t Leaves = 0, HostBytes = 0;
};

} // namespace r3::replay
