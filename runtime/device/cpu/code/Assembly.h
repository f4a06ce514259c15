// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX instructions as programs and CUDA's headers spell them in inline
// assembly: __r3_asm_<instruction>, its inputs in order. Loads, stores and
// moves are written by AssemblyCode.cpp; arithmetic is in AssemblyNumbers.h and
// AssemblyHalves.h.
#pragma once

#include "Floats.h"
#include "Synchronisation.h"

/// Addresses of 32 bits are those in shared memory: the lower half of the
/// generic ones.
LIBRARY char *__r3_shared_address(uint32_t Low) {
  char *First = reinterpret_cast<char *>(__r3_context()->Shared);
  return First +
         static_cast<int32_t>(
             Low - static_cast<uint32_t>(reinterpret_cast<uint64_t>(First)));
}
/// cooperative_groups' scratch memory lies in front of shared memory.
LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_reserved_smem_offset_1() {
  return static_cast<uint32_t>(
             reinterpret_cast<uint64_t>(__r3_context()->Shared)) -
         ReservedShared;
}

// --- Fences, ends, waits.

#define ASM_FENCE(Name)                                                        \
  LIBRARY void __r3_asm_##Name() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
ASM_FENCE(membar_cta)
ASM_FENCE(membar_gl)
ASM_FENCE(membar_sys)
#define ASM_FENCES(Scope)                                                      \
  ASM_FENCE(fence_sc_##Scope)                                                  \
  ASM_FENCE(fence_acq_rel_##Scope)
ASM_FENCES(cta)
ASM_FENCES(cluster)
ASM_FENCES(gpu)
ASM_FENCES(sys)
LIBRARY void __r3_asm_trap() { __r3_trap(); }
LIBRARY void __r3_asm_exit() { __r3_nvvm_exit(); }
CONVERGENT void __r3_asm_nanosleep_u32(uint32_t) { __r3_nvvm_nanosleep(0); }
CONVERGENT void __r3_asm_bar_sync(uint32_t Id) {
  __r3_nvvm_barrier_cta_sync_aligned_all(Id);
}
CONVERGENT void __r3_asm_bar_sync_2(uint32_t Id, uint32_t Count) {
  __r3_nvvm_barrier_cta_sync_aligned_count(Id, Count);
}
CONVERGENT void __r3_asm_bar_arrive(uint32_t Id, uint32_t Count) {
  __r3_nvvm_barrier_cta_arrive_aligned_count(Id, Count);
}
CONVERGENT void __r3_asm_barrier_sync_2(uint32_t Id, uint32_t Count) {
  __r3_nvvm_barrier_cta_sync_count(Id, Count);
}
CONVERGENT void __r3_asm_barrier_sync(uint32_t Id) {
  __r3_nvvm_barrier_cta_sync_all(Id);
}
CONVERGENT void __r3_asm_bar_warp_sync(uint32_t Mask) {
  __r3_nvvm_bar_warp_sync(Mask);
}

// --- Shuffles: (value, lane, clamp, mask), as the instruction has them.

#define ASM_SHUFFLE(Name, Operation)                                           \
  CONVERGENT uint32_t __r3_asm_shfl_sync_##Name##_b32(                         \
      uint32_t Value, uint32_t Lane, uint32_t Clamp, uint32_t Mask) {          \
    return warp(Operation, Mask, Value, Lane, Clamp);                          \
  }                                                                            \
  CONVERGENT uint32_t __r3_asm_shfl_sync_##Name##_b32_p(                       \
      uint32_t Value, uint32_t Lane, uint32_t Clamp, uint32_t Mask,            \
      bool *Predicate) {                                                       \
    return warp(Operation, Mask, Value, Lane, Clamp, Predicate);               \
  }
ASM_SHUFFLE(up, ShuffleUp)
ASM_SHUFFLE(down, ShuffleDown)
ASM_SHUFFLE(bfly, ShuffleXor)
ASM_SHUFFLE(idx, ShuffleIndex)

// --- Votes, matches: the mask comes last.

CONVERGENT uint32_t __r3_asm_vote_sync_ballot_b32(bool Value, uint32_t Mask) {
  return warp(VoteBallot, Mask, Value);
}
CONVERGENT uint32_t __r3_asm_vote_ballot_sync_b32(bool Value, uint32_t Mask) {
  return warp(VoteBallot, Mask, Value);
}
#define ASM_VOTE(Name, Operation)                                              \
  CONVERGENT bool __r3_asm_vote_sync_##Name##_pred(bool Value,                 \
                                                   uint32_t Mask) {            \
    return warp(Operation, Mask, Value);                                       \
  }
ASM_VOTE(all, VoteAll)
ASM_VOTE(any, VoteAny)
ASM_VOTE(uni, VoteUniform)
CONVERGENT uint32_t __r3_asm_match_any_sync_b32(uint32_t Value, uint32_t Mask) {
  return warp(MatchAny, Mask, Value);
}
CONVERGENT uint32_t __r3_asm_match_any_sync_b64(uint64_t Value, uint32_t Mask) {
  return warp(MatchAny, Mask, Value);
}

// --- Atomic operations: all are ordered, and for the whole system.

#define ASM_ATOMIC(Name, Ptx, Type, Body)                                      \
  LIBRARY Type __r3_asm_atom_##Name##_##Ptx(Type *Where, Type Value) {         \
    return Body;                                                               \
  }                                                                            \
  LIBRARY void __r3_asm_red_##Name##_##Ptx(Type *Where, Type Value) {          \
    (void)__r3_asm_atom_##Name##_##Ptx(Where, Value);                          \
  }
#define ASM_ATOMIC_INTEGERS(Name, Builtin)                                     \
  ASM_ATOMIC(Name, u32, uint32_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))     \
  ASM_ATOMIC(Name, s32, int32_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))      \
  ASM_ATOMIC(Name, b32, uint32_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))     \
  ASM_ATOMIC(Name, u64, uint64_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))     \
  ASM_ATOMIC(Name, s64, int64_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))      \
  ASM_ATOMIC(Name, b64, uint64_t, Builtin(Where, Value, __ATOMIC_SEQ_CST))
ASM_ATOMIC_INTEGERS(add, __atomic_fetch_add)
ASM_ATOMIC_INTEGERS(and, __atomic_fetch_and)
ASM_ATOMIC_INTEGERS(or, __atomic_fetch_or)
ASM_ATOMIC_INTEGERS(xor, __atomic_fetch_xor)
ASM_ATOMIC_INTEGERS(min, __atomic_fetch_min)
ASM_ATOMIC_INTEGERS(max, __atomic_fetch_max)
ASM_ATOMIC_INTEGERS(exch, __atomic_exchange_n)
ASM_ATOMIC(add, f32, float, __atomic_fetch_add(Where, Value, __ATOMIC_SEQ_CST))
ASM_ATOMIC(add, f64, double, __atomic_fetch_add(Where, Value, __ATOMIC_SEQ_CST))
#define ASM_SWAP(Ptx, Type)                                                    \
  LIBRARY Type __r3_asm_atom_cas_##Ptx(Type *Where, Type Expected,             \
                                       Type Desired) {                         \
    __atomic_compare_exchange_n(Where, &Expected, Desired, /*weak=*/false,     \
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return Expected;                                                           \
  }
ASM_SWAP(b16, uint16_t)
ASM_SWAP(b32, uint32_t)
ASM_SWAP(b64, uint64_t)

// --- Copies to shared memory, which are done at once, and prefetches.

LIBRARY void __r3_asm_cp_async_3(void *To, const void *From, uint32_t Size) {
  __builtin_memcpy(To, From, Size);
}
/// Read bytes are copied, the others are zero.
LIBRARY void __r3_asm_cp_async_4(void *To, const void *From, uint32_t Size,
                                 uint32_t Read) {
  for (uint32_t I = 0; I < Size; ++I)
    static_cast<char *>(To)[I] =
        I < Read ? static_cast<const char *>(From)[I] : 0;
}
LIBRARY void __r3_asm_cp_async_commit_group() {}
LIBRARY void __r3_asm_cp_async_wait_group(uint32_t) {}
LIBRARY void __r3_asm_cp_async_wait_all() {}
LIBRARY void __r3_asm_prefetch_L1(const void *) {}
LIBRARY void __r3_asm_prefetch_L2(const void *) {}

// --- Small integer operations.

LIBRARY uint32_t __r3_asm_bfind_shiftamt_u32(uint32_t Value) {
  return Value ? static_cast<uint32_t>(__builtin_clz(Value)) : ~0u;
}
LIBRARY uint32_t __r3_asm_bfe_u32(uint32_t Value, uint32_t First,
                                  uint32_t Width) {
  First &= 255;
  Width &= 255;
  if (First > 31 || !Width)
    return 0;
  uint32_t Shifted = Value >> First;
  return Width > 31 ? Shifted : Shifted & ((1u << Width) - 1);
}
LIBRARY uint32_t __r3_asm_bfi_b32(uint32_t Inserted, uint32_t Into,
                                  uint32_t First, uint32_t Width) {
  First &= 255;
  Width &= 255;
  if (First > 31 || !Width)
    return Into;
  uint32_t Ones = Width > 31 ? ~0u : (1u << Width) - 1;
  return (Into & ~(Ones << First)) | (Inserted & Ones) << First;
}
