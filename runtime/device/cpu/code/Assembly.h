// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX instructions as programs and CUDA's headers spell them in inline
// assembly: __r3_asm_<instruction>, its inputs in order. Loads, stores and
// moves are written by AssemblyCode.cpp; arithmetic is in AssemblyNumbers.h,
// AssemblyIntegers.h and AssemblyHalves.h.
#pragma once

#include "Atomics.h"
#include "Floats.h"
#include "Registers.h"
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
  ASM_FENCE(fence_acq_rel_##Scope)                                             \
  ASM_FENCE(fence_acquire_##Scope)                                             \
  ASM_FENCE(fence_release_##Scope)
ASM_FENCES(cta)
ASM_FENCES(cluster)
ASM_FENCES(gpu)
ASM_FENCES(sys)
LIBRARY void __r3_asm_trap() { __r3_trap(); }
LIBRARY void __r3_asm_exit() { __r3_nvvm_exit(); }
CONVERGENT void __r3_asm_nanosleep_u32(uint32_t) { __r3_nvvm_nanosleep(0); }
// bar and barrier, with .cta and .aligned or without.
CONVERGENT void __r3_asm_bar_sync(uint32_t Id) {
  __r3_nvvm_barrier_cta_sync_all(Id);
}
CONVERGENT void __r3_asm_bar_sync_2(uint32_t Id, uint32_t Count) {
  __r3_nvvm_barrier_cta_sync_count(Id, Count);
}
CONVERGENT void __r3_asm_bar_arrive(uint32_t Id, uint32_t Count) {
  __r3_nvvm_barrier_cta_arrive_count(Id, Count);
}
#define ASM_BAR_RED(Type, Name, Ptx)                                           \
  CONVERGENT Type __r3_asm_bar_red_##Name##_##Ptx(uint32_t Id, bool Value) {   \
    return __r3_nvvm_barrier_cta_red_##Name##_all(Id, Value);                  \
  }                                                                            \
  CONVERGENT Type __r3_asm_bar_red_##Name##_##Ptx##_4(                         \
      uint32_t Id, uint32_t Count, bool Value) {                               \
    return __r3_nvvm_barrier_cta_red_##Name##_count(Id, Count, Value);         \
  }
ASM_BAR_RED(bool, and, pred)
ASM_BAR_RED(bool, or, pred)
ASM_BAR_RED(uint32_t, popc, u32)
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

#define ASM_MATCH_ALL(Ptx, Type)                                               \
  CONVERGENT uint32_t __r3_asm_match_all_sync_##Ptx(Type Value,                \
                                                    uint32_t Mask) {           \
    return warp(MatchAll, Mask, Value);                                        \
  }                                                                            \
  CONVERGENT uint32_t __r3_asm_match_all_sync_##Ptx##_p(                       \
      Type Value, uint32_t Mask, bool *Predicate) {                            \
    return warp(MatchAll, Mask, Value, 0, 0, Predicate);                       \
  }
ASM_MATCH_ALL(b32, uint32_t)
ASM_MATCH_ALL(b64, uint64_t)
CONVERGENT uint32_t __r3_asm_elect_sync_p(uint32_t Mask, bool *Predicate) {
  return warp(Elect, Mask, 0, 0, 0, Predicate);
}

#define ASM_REDUX(Name, Operation)                                             \
  CONVERGENT uint32_t __r3_asm_redux_sync_##Name(uint32_t Value,               \
                                                 uint32_t Mask) {              \
    return warp(Operation, Mask, Value);                                       \
  }
ASM_REDUX(add_u32, ReduceAdd)
ASM_REDUX(add_s32, ReduceAdd)
ASM_REDUX(min_u32, ReduceUnsignedMin)
ASM_REDUX(min_s32, ReduceMin)
ASM_REDUX(max_u32, ReduceUnsignedMax)
ASM_REDUX(max_s32, ReduceMax)
ASM_REDUX(and_b32, ReduceAnd)
ASM_REDUX(or_b32, ReduceOr)
ASM_REDUX(xor_b32, ReduceXor)

// --- Which memory an address is in.

#define ASM_IS_SPACE(Name, Nvvm)                                               \
  LIBRARY bool __r3_asm_isspacep_##Name(const void *Where) {                   \
    return __r3_nvvm_isspacep_##Nvvm(Where);                                   \
  }
ASM_IS_SPACE(global, global)
ASM_IS_SPACE(local, local)
ASM_IS_SPACE(const, const)
ASM_IS_SPACE(shared, shared)
ASM_IS_SPACE(shared__cta, shared)
ASM_IS_SPACE(shared__cluster, shared_cluster)

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
ASM_ATOMIC(inc, u32, uint32_t, update(Where, [=](uint32_t Old) {
             return Old >= Value ? 0 : Old + 1;
           }))
ASM_ATOMIC(dec, u32, uint32_t, update(Where, [=](uint32_t Old) {
             return Old == 0 || Old > Value ? Value : Old - 1;
           }))
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
