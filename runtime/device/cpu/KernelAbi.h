// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between compiled kernels and the engine: the context that every device
// function gets as a hidden first argument, and the functions of the engine
// that kernels call (RuntimeCalls.def). Included by the engine, by the compile
// part, and by the device code library (code/), which clang compiles to
// bitcode that is linked into kernels.
#pragma once

#include <stdint.h>

namespace r3::cpu {

/// One a thread. A kernel sees it unchanged from its first instruction to its
/// last, except for Fuel and Carry.
struct ThreadContext {
  uint32_t Thread[3];
  uint32_t Lane; // in the warp
  uint32_t Block[3];
  uint32_t Warp; // in the block
  uint32_t BlockSize[3];
  uint32_t WarpCount;
  uint32_t GridSize[3];
  uint32_t Processor;    // %smid
  unsigned char *Shared; // static, then dynamic shared memory
  uint32_t SharedBytes;
  uint32_t DynamicSharedBytes;
  void *Workspace; // of a cooperative launch, for grid barriers; else null
  uint64_t GridId;
  uint32_t ProcessorCount; // %nsmid
  uint32_t Fuel;  // turns of a waiting loop until the thread lets others run
  void *Owner;    // the engine's block
  void *Launch;   // the engine's launch
  uint32_t Carry; // of sums in inline PTX
};

/// Shared memory buffers begin at a multiple of this.
inline constexpr uint64_t SharedAlignment = 1024;

/// In front of a block's shared memory: scratch of cooperative groups.
inline constexpr uint64_t ReservedShared = 1024;

/// What a warp operation computes (warpOperation).
enum WarpOperation : uint32_t {
  WarpSync,
  ShuffleUp,
  ShuffleDown,
  ShuffleXor,
  ShuffleIndex,
  VoteAll,
  VoteAny,
  VoteUniform,
  VoteBallot,
  MatchAny,
  MatchAll,
  ReduceAdd,
  ReduceMin,
  ReduceMax,
  ReduceUnsignedMin,
  ReduceUnsignedMax,
  ReduceAnd,
  ReduceOr,
  ReduceXor,
  ReduceFloatMin,
  ReduceFloatMax,
  Elect,
};

/// What a barrier gives to all threads (barrier).
enum BarrierOperation : uint32_t {
  BarrierSync,
  BarrierAnd,
  BarrierOr,
  BarrierCount,
};

/// Directed rounding, as in MXCSR.
enum RoundingMode : uint32_t {
  RoundNearest = 0,
  RoundDown = 1,
  RoundUp = 2,
  RoundToZero = 3,
};

enum RoundedOperation : uint32_t {
  RoundedAdd,
  RoundedMultiply,
  RoundedDivide,
  RoundedSquareRoot,
  RoundedMultiplyAdd,
};

} // namespace r3::cpu
