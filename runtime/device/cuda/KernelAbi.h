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

/// A warp makes the sketch of one chunk.
inline constexpr unsigned DeviceChunkBytes = 256 * 1024;

inline constexpr unsigned HashThreads = 128;
inline constexpr unsigned SketchThreads = 128;
inline constexpr unsigned ScanThreads = 256;
inline constexpr unsigned FlushThreads = 256;
inline constexpr unsigned FillThreads = 1024;
/// Local memory that r3_fill_local_... fill of a thread.
inline constexpr unsigned FillLocalBytes[] = {1024, 4096, 16384};
inline constexpr unsigned SinkWords = 1024;
inline constexpr unsigned ArithmeticThreads = 256;
/// Operations of a thread in one round of r3_multiply_add: chains that wait
/// for nothing but themselves, steps of each, two operations a step.
inline constexpr unsigned ArithmeticChains = 8, ArithmeticSteps = 16;
inline constexpr unsigned ArithmeticOperations =
    2 * ArithmeticChains * ArithmeticSteps;

/// A piece of memory that r3_hash_leaves takes, and where its part of the work
/// and of the result begins.
struct HashPiece {
  uint64_t Begin;
  uint64_t Size;
  uint64_t FirstWarp;
  uint64_t FirstLeaf;
};

/// By value, as the kernel's argument.
struct HashTable {
  static constexpr unsigned Most = 64;
  HashPiece List[Most];
  uint32_t Count;
};

/// Warps that a piece of memory needs.
constexpr uint64_t hashWarps(uint64_t Size) {
  uint64_t Whole = Size / DeviceLeafBytes;
  return (Whole + 7) / 8 + (Size % DeviceLeafBytes != 0);
}

} // namespace r3
