// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Kernels.cu and the host side of it agree on. Compiled for both.
#pragma once

#include <stdint.h>

namespace r3 {

inline constexpr unsigned DeviceLeafBytes = 4096;

/// LeafHash of Digest.h.
struct DeviceLeafHash {
  uint64_t Seed0;
  uint64_t Seed1;
};

/// A target of the pointer scan; End is one past the last byte, inclusive.
struct DeviceRange {
  uint64_t Begin;
  uint64_t End;
};

inline constexpr unsigned HashThreads = 128;
inline constexpr unsigned ScanThreads = 256;
inline constexpr unsigned FlushThreads = 256;
inline constexpr unsigned FlushSinkWords = 1024;

/// Warps that r3_hash_leaves needs.
constexpr uint64_t hashWarps(uint64_t Size) {
  uint64_t Whole = Size / DeviceLeafBytes;
  return (Whole + 7) / 8 + (Size % DeviceLeafBytes != 0);
}

} // namespace r3
