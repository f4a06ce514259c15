// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of remapped indices: what a thread is told in place of its
// block's and its own index. Compiled without CUDA's headers.
#include <stdint.h>

#define R3_DEVICE __attribute__((device))

extern "C" R3_DEVICE uint64_t __r3_remap_seed;
uint64_t __r3_remap_seed;

namespace {

constexpr uint32_t WarpThreads = 32;

R3_DEVICE uint64_t mixed(uint64_t Hash) {
  Hash *= 0xff51afd7ed558ccdull;
  Hash ^= Hash >> 32;
  return Hash * 0xc4ceb9fe1a85ec53ull;
}

/// Index in a permutation of [0, Count): four rounds of a Feistel network over
/// the least even power of two that Count fits into, repeated until the result
/// is in the range.
R3_DEVICE uint64_t permuted(uint64_t Index, uint64_t Count, uint64_t Seed) {
  if (!Seed || Count < 2)
    return Index;
  if (Seed == 1)
    return Count - 1 - Index;
  const uint32_t Half = (64 - __builtin_clzll(Count - 1) + 1) / 2;
  const uint64_t Mask = (1ull << Half) - 1;
  do {
    uint64_t Left = Index >> Half, Right = Index & Mask;
    for (uint64_t Round = 0; Round < 4; ++Round) {
      const uint64_t Next =
          Left ^ (mixed(Right ^ mixed(Seed * 4 + Round)) >> 40 & Mask);
      Left = Right;
      Right = Next;
    }
    Index = Left << Half | Right;
  } while (Index >= Count);
  return Index;
}

struct Place {
  uint32_t X, Y, Z;
};

R3_DEVICE Place placeOf(uint64_t Index, uint32_t X, uint32_t Y) {
  return {static_cast<uint32_t>(Index % X),
          static_cast<uint32_t>(Index / X % Y),
          static_cast<uint32_t>(Index / X / Y)};
}

R3_DEVICE Place block() {
  const uint64_t X = __nvvm_read_ptx_sreg_nctaid_x(),
                 Y = __nvvm_read_ptx_sreg_nctaid_y(),
                 Z = __nvvm_read_ptx_sreg_nctaid_z();
  const uint64_t Index =
      __nvvm_read_ptx_sreg_ctaid_x() +
      X * (__nvvm_read_ptx_sreg_ctaid_y() + Y * __nvvm_read_ptx_sreg_ctaid_z());
  return placeOf(permuted(Index, X * Y * Z, __r3_remap_seed), X, Y);
}

/// Whole warps change places; lanes stay what they are.
R3_DEVICE Place thread() {
  const uint32_t X = __nvvm_read_ptx_sreg_ntid_x(),
                 Y = __nvvm_read_ptx_sreg_ntid_y(),
                 Z = __nvvm_read_ptx_sreg_ntid_z();
  const uint32_t Index =
      __nvvm_read_ptx_sreg_tid_x() +
      X * (__nvvm_read_ptx_sreg_tid_y() + Y * __nvvm_read_ptx_sreg_tid_z());
  const uint32_t Warp = Index / WarpThreads, Whole = X * Y * Z / WarpThreads;
  const uint64_t Other =
      Warp < Whole ? permuted(Warp, Whole, __r3_remap_seed) : Warp;
  return placeOf(Other * WarpThreads + Index % WarpThreads, X, Y);
}

} // namespace

#define INDEX(Register, Function, Axis, Part)                                  \
  extern "C" R3_DEVICE uint32_t __r3_remap_##Register##_##Axis() {             \
    return Function().Part;                                                    \
  }
INDEX(ctaid, block, x, X)
INDEX(ctaid, block, y, Y)
INDEX(ctaid, block, z, Z)
INDEX(tid, thread, x, X)
INDEX(tid, thread, y, Y)
INDEX(tid, thread, z, Z)
