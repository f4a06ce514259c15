// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX instructions that CUDA's and clang's headers spell as inline assembly,
// and that stand alone: __r3_asm_<instruction>, its inputs in order. (Those of
// integers and of libdevice are with their families.)
#pragma once

#include "Floats.h"
#include "Synchronisation.h"

/// cooperative_groups' scratch memory lies in front of shared memory.
LIBRARY uint64_t __r3_asm_reserved_shared() {
  return reinterpret_cast<uint64_t>(__r3_context()->Shared) - ReservedShared;
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
  }
ASM_SHUFFLE(up, ShuffleUp)
ASM_SHUFFLE(down, ShuffleDown)
ASM_SHUFFLE(bfly, ShuffleXor)
ASM_SHUFFLE(idx, ShuffleIndex)

// --- Ordered and cached accesses.

#define ASM_ORDERED(Scope, Type, Ptx)                                          \
  LIBRARY Type __r3_asm_ld_acquire_##Scope##_##Ptx(const Type *From) {         \
    return __atomic_load_n(From, __ATOMIC_ACQUIRE);                            \
  }                                                                            \
  LIBRARY Type __r3_asm_ld_relaxed_##Scope##_##Ptx(const Type *From) {         \
    return __atomic_load_n(From, __ATOMIC_RELAXED);                            \
  }                                                                            \
  LIBRARY void __r3_asm_st_release_##Scope##_##Ptx(Type *To, Type Value) {     \
    __atomic_store_n(To, Value, __ATOMIC_RELEASE);                             \
  }                                                                            \
  LIBRARY void __r3_asm_st_relaxed_##Scope##_##Ptx(Type *To, Type Value) {     \
    __atomic_store_n(To, Value, __ATOMIC_RELAXED);                             \
  }                                                                            \
  LIBRARY Type __r3_asm_atom_add_release_##Scope##_##Ptx(Type *Where,          \
                                                         Type Value) {         \
    return __atomic_fetch_add(Where, Value, __ATOMIC_RELEASE);                 \
  }                                                                            \
  LIBRARY Type __r3_asm_atom_add_acquire_##Scope##_##Ptx(Type *Where,          \
                                                         Type Value) {         \
    return __atomic_fetch_add(Where, Value, __ATOMIC_ACQUIRE);                 \
  }                                                                            \
  LIBRARY Type __r3_asm_atom_add_acq_rel_##Scope##_##Ptx(Type *Where,          \
                                                         Type Value) {         \
    return __atomic_fetch_add(Where, Value, __ATOMIC_ACQ_REL);                 \
  }
#define ASM_SCOPES(Type, Ptx)                                                  \
  ASM_ORDERED(cta, Type, Ptx)                                                  \
  ASM_ORDERED(gpu, Type, Ptx)                                                  \
  ASM_ORDERED(sys, Type, Ptx)
ASM_SCOPES(uint32_t, u32)
ASM_SCOPES(uint64_t, u64)

#define ASM_LOAD(Cache, Type, Ptx)                                             \
  LIBRARY Type __r3_asm_ld_global_##Cache##_##Ptx(const Type *From) {          \
    return *From;                                                              \
  }
#define ASM_STORE(Cache, Type, Ptx)                                            \
  LIBRARY void __r3_asm_st_global_##Cache##_##Ptx(Type *To, Type Value) {      \
    *To = Value;                                                               \
  }
#define ASM_CACHED(Type, Ptx)                                                  \
  ASM_LOAD(ca, Type, Ptx)                                                      \
  ASM_LOAD(cg, Type, Ptx)                                                      \
  ASM_LOAD(cs, Type, Ptx)                                                      \
  ASM_LOAD(lu, Type, Ptx)                                                      \
  ASM_LOAD(nc, Type, Ptx)                                                      \
  ASM_STORE(cg, Type, Ptx)                                                     \
  ASM_STORE(cs, Type, Ptx)                                                     \
  ASM_STORE(wb, Type, Ptx)                                                     \
  ASM_STORE(wt, Type, Ptx)                                                     \
  LIBRARY Type __r3_asm_ld_global_cv_##Ptx(const Type *From) {                 \
    return *const_cast<const volatile Type *>(From);                           \
  }
ASM_CACHED(uint32_t, u32)
ASM_CACHED(int32_t, s32)
ASM_CACHED(uint32_t, b32)
ASM_CACHED(uint64_t, u64)
ASM_CACHED(int64_t, s64)
ASM_CACHED(float, f32)
ASM_CACHED(double, f64)
ASM_CACHED(uint16_t, b16)
ASM_CACHED(uint16_t, u16)
ASM_CACHED(int16_t, s16)

// --- Small integer operations.

LIBRARY uint32_t __r3_asm_bfind_shiftamt_u32(uint32_t Value) {
  return Value ? static_cast<uint32_t>(__builtin_clz(Value)) : ~0u;
}
LIBRARY uint32_t __r3_asm_shr_b32(uint32_t Value, uint32_t Amount) {
  return Amount > 31 ? 0 : Value >> Amount;
}
LIBRARY uint32_t __r3_asm_shl_b32(uint32_t Value, uint32_t Amount) {
  return Amount > 31 ? 0 : Value << Amount;
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

// --- Half precision: values as their bits.

using Half = _Float16;
static inline __attribute__((always_inline)) Half half(uint16_t Bits) {
  return __builtin_bit_cast(Half, Bits);
}
static inline __attribute__((always_inline)) uint16_t bits(Half Value) {
  return __builtin_bit_cast(uint16_t, Value);
}
static inline __attribute__((always_inline)) uint32_t pack(Half Low,
                                                           Half High) {
  return bits(Low) | static_cast<uint32_t>(bits(High)) << 16;
}
static inline __attribute__((always_inline)) Half low(uint32_t Pair) {
  return half(static_cast<uint16_t>(Pair));
}
static inline __attribute__((always_inline)) Half high(uint32_t Pair) {
  return half(static_cast<uint16_t>(Pair >> 16));
}

#define ASM_HALF2(Name, Expression)                                            \
  static inline __attribute__((always_inline)) Half half_##Name(Half A,        \
                                                                Half B) {      \
    return static_cast<Half>(Expression);                                      \
  }                                                                            \
  LIBRARY uint16_t __r3_asm_##Name##_f16(uint16_t A, uint16_t B) {             \
    return bits(half_##Name(half(A), half(B)));                                \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_##Name##_f16x2(uint32_t A, uint32_t B) {           \
    return pack(half_##Name(low(A), low(B)), half_##Name(high(A), high(B)));   \
  }
ASM_HALF2(add, A + B)
ASM_HALF2(sub, A - B)
ASM_HALF2(mul, A *B)
ASM_HALF2(add_rn, A + B)
ASM_HALF2(sub_rn, A - B)
ASM_HALF2(mul_rn, A *B)
ASM_HALF2(min, __builtin_fminf(A, B))
ASM_HALF2(max, __builtin_fmaxf(A, B))

LIBRARY uint16_t __r3_asm_fma_rn_f16(uint16_t A, uint16_t B, uint16_t C) {
  return bits(__r3_nvvm_fma_rn_f16(half(A), half(B), half(C)));
}
LIBRARY uint32_t __r3_asm_fma_rn_f16x2(uint32_t A, uint32_t B, uint32_t C) {
  return pack(__r3_nvvm_fma_rn_f16(low(A), low(B), low(C)),
              __r3_nvvm_fma_rn_f16(high(A), high(B), high(C)));
}
LIBRARY uint16_t __r3_asm_neg_f16(uint16_t A) { return A ^ 0x8000; }
LIBRARY uint32_t __r3_asm_neg_f16x2(uint32_t A) { return A ^ 0x80008000; }
LIBRARY uint16_t __r3_asm_abs_f16(uint16_t A) { return A & 0x7fff; }
LIBRARY uint32_t __r3_asm_abs_f16x2(uint32_t A) { return A & 0x7fff7fff; }
LIBRARY float __r3_asm_cvt_f32_f16(uint16_t A) { return half(A); }
LIBRARY uint16_t __r3_asm_cvt_rn_f16_f32(float A) {
  return bits(static_cast<Half>(A));
}
LIBRARY uint16_t __r3_asm_cvt_rn_f16_f64(double A) {
  return bits(static_cast<Half>(A));
}
LIBRARY uint32_t __r3_asm_cvt_rn_f16x2_f32(float High, float Low) {
  return pack(static_cast<Half>(Low), static_cast<Half>(High));
}
LIBRARY uint32_t __r3_asm_pack_halves(uint16_t Low, uint16_t High) {
  return Low | static_cast<uint32_t>(High) << 16;
}
LIBRARY uint32_t __r3_asm_pack_same_half(uint16_t Both) {
  return Both * 0x10001u;
}
LIBRARY uint16_t __r3_asm_low_half(uint32_t Pair) { return bits(low(Pair)); }
LIBRARY uint16_t __r3_asm_high_half(uint32_t Pair) { return bits(high(Pair)); }
LIBRARY float __r3_asm_low_float(uint32_t Pair) { return low(Pair); }
LIBRARY float __r3_asm_high_float(uint32_t Pair) { return high(Pair); }
LIBRARY uint32_t __r3_asm_float_to_pair(float Both) {
  return pack(static_cast<Half>(Both), static_cast<Half>(Both));
}
