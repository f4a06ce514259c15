// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX arithmetic of f16, bf16 and pairs of them in inline assembly, as CUDA's
// headers cuda_fp16.h and cuda_bf16.h have it: values are their bits. All is
// computed in float or double, and rounded once.
#pragma once

#include "AssemblyNumbers.h"

#define INLINE static inline __attribute__((always_inline))

// --- Bits and values.

INLINE float valueOf_f16(uint16_t Bits) {
  return __builtin_bit_cast(_Float16, Bits);
}
INLINE uint16_t bitsOf_f16(double Value) {
  return __builtin_bit_cast(uint16_t, static_cast<_Float16>(Value));
}
INLINE float valueOf_bf16(uint16_t Bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(Bits) << 16);
}
/// The upper half of a float; Up: away from zero, where a bit is lost.
INLINE uint16_t cut(float Value, bool Up) {
  uint32_t Bits = __builtin_bit_cast(uint32_t, Value);
  if (Value != Value)
    return 0x7fff;
  return static_cast<uint16_t>((Bits >> 16) + (Up && (Bits & 0xffff)));
}
/// To the nearest, halfway to the even one. A double's lost bits first go into
/// a float's last one, so that nothing is rounded twice.
INLINE uint16_t bitsOf_bf16(double Value) {
  if (Value != Value)
    return 0x7fff;
  float Near = static_cast<float>(Value);
  uint32_t Bits = __builtin_bit_cast(uint32_t, Near);
  if (static_cast<double>(Near) != Value && Near - Near == 0) {
    bool IsOver =
        __builtin_fabs(static_cast<double>(Near)) > __builtin_fabs(Value);
    Bits = (Bits - IsOver) | 1;
  }
  return static_cast<uint16_t>((Bits + 0x7fff + (Bits >> 16 & 1)) >> 16);
}
INLINE uint32_t pair(uint16_t Low, uint16_t High) {
  return Low | static_cast<uint32_t>(High) << 16;
}
INLINE uint16_t low(uint32_t Pair) { return static_cast<uint16_t>(Pair); }
INLINE uint16_t high(uint32_t Pair) {
  return static_cast<uint16_t>(Pair >> 16);
}

// --- The same for one value and for both of a pair.

#define HALVES_ONE(Name, Ptx, Bits)                                            \
  LIBRARY uint16_t __r3_asm_##Name##_##Ptx(uint16_t A) { return Bits; }        \
  LIBRARY uint32_t __r3_asm_##Name##_##Ptx##x2(uint32_t A) {                   \
    return pair(__r3_asm_##Name##_##Ptx(low(A)),                               \
                __r3_asm_##Name##_##Ptx(high(A)));                             \
  }
#define HALVES_TWO(Name, Ptx, Expression)                                      \
  INLINE double Ptx##_##Name(float A, float B) { return Expression; }          \
  LIBRARY uint16_t __r3_asm_##Name##_##Ptx(uint16_t A, uint16_t B) {           \
    return bitsOf_##Ptx(Ptx##_##Name(valueOf_##Ptx(A), valueOf_##Ptx(B)));     \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_##Name##_##Ptx##x2(uint32_t A, uint32_t B) {       \
    return pair(__r3_asm_##Name##_##Ptx(low(A), low(B)),                       \
                __r3_asm_##Name##_##Ptx(high(A), high(B)));                    \
  }
#define HALVES_FMA(Name, Ptx, Result)                                          \
  INLINE double Ptx##_##Name(double A, double B, double C) {                   \
    double Sum = A * B + C;                                                    \
    return Result;                                                             \
  }                                                                            \
  LIBRARY uint16_t __r3_asm_##Name##_##Ptx(uint16_t A, uint16_t B,             \
                                           uint16_t C) {                       \
    return bitsOf_##Ptx(                                                       \
        Ptx##_##Name(valueOf_##Ptx(A), valueOf_##Ptx(B), valueOf_##Ptx(C)));   \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_##Name##_##Ptx##x2(uint32_t A, uint32_t B,         \
                                               uint32_t C) {                   \
    return pair(__r3_asm_##Name##_##Ptx(low(A), low(B), low(C)),               \
                __r3_asm_##Name##_##Ptx(high(A), high(B), high(C)));           \
  }

/// set: 1 or 0 as such a value; setp: a predicate.
#define HALVES_COMPARED(Name, Ptx, Holds)                                      \
  HALVES_TWO(set_##Name##_##Ptx, Ptx, (Holds) ? 1 : 0)                         \
  LIBRARY uint32_t __r3_asm_set_##Name##_##Ptx##x2_##Ptx##x2(uint32_t A,       \
                                                             uint32_t B) {     \
    return __r3_asm_set_##Name##_##Ptx##_##Ptx##x2(A, B);                      \
  }                                                                            \
  LIBRARY bool __r3_asm_setp_##Name##_##Ptx(uint16_t A, uint16_t B) {          \
    return Ptx##_set_##Name##_##Ptx(valueOf_##Ptx(A), valueOf_##Ptx(B)) != 0;  \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_set_##Name##_u32_##Ptx##x2(uint32_t A,             \
                                                       uint32_t B) {           \
    return pair(__r3_asm_setp_##Name##_##Ptx(low(A), low(B)) ? 0xffff : 0,     \
                __r3_asm_setp_##Name##_##Ptx(high(A), high(B)) ? 0xffff : 0);  \
  }

/// Adds without a lock; the pair's halves together.
#define HALVES_ATOMIC(Ptx, Type)                                               \
  LIBRARY Type __r3_asm_atom_add_##Ptx(Type *Where, Type Value) {              \
    Type Old = __atomic_load_n(Where, __ATOMIC_SEQ_CST);                       \
    while (!__atomic_compare_exchange_n(                                       \
        Where, &Old, __r3_asm_add_##Ptx(Old, Value), /*weak=*/true,            \
        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {                                 \
    }                                                                          \
    return Old;                                                                \
  }                                                                            \
  LIBRARY void __r3_asm_red_add_##Ptx(Type *Where, Type Value) {               \
    (void)__r3_asm_atom_add_##Ptx(Where, Value);                               \
  }

#define HALVES(Ptx)                                                            \
  HALVES_TWO(add, Ptx, A + B)                                                  \
  HALVES_TWO(sub, Ptx, A - B)                                                  \
  HALVES_TWO(mul, Ptx, A *B)                                                   \
  HALVES_TWO(add_rn, Ptx, A + B)                                               \
  HALVES_TWO(sub_rn, Ptx, A - B)                                               \
  HALVES_TWO(mul_rn, Ptx, A *B)                                                \
  HALVES_TWO(add_sat, Ptx, saturate(A + B))                                    \
  HALVES_TWO(sub_sat, Ptx, saturate(A - B))                                    \
  HALVES_TWO(mul_sat, Ptx, saturate(A *B))                                     \
  HALVES_TWO(min, Ptx, __r3_nvvm_fmin_f(A, B))                                 \
  HALVES_TWO(max, Ptx, __r3_nvvm_fmax_f(A, B))                                 \
  HALVES_TWO(min_NaN, Ptx, __r3_nvvm_fmin_nan_f(A, B))                         \
  HALVES_TWO(max_NaN, Ptx, __r3_nvvm_fmax_nan_f(A, B))                         \
  HALVES_FMA(fma_rn, Ptx, Sum)                                                 \
  HALVES_FMA(fma_rn_sat, Ptx, Sum > 0 ? Sum < 1 ? Sum : 1 : 0)                 \
  HALVES_FMA(fma_rn_relu, Ptx, Sum < 0 ? 0 : Sum)                              \
  HALVES_ONE(neg, Ptx, A ^ 0x8000)                                             \
  HALVES_ONE(abs, Ptx, A & 0x7fff)                                             \
  HALVES_ONE(tanh_approx, Ptx,                                                 \
             bitsOf_##Ptx(__builtin_tanhf(valueOf_##Ptx(A))))                  \
  HALVES_ONE(ex2_approx, Ptx, bitsOf_##Ptx(__builtin_exp2f(valueOf_##Ptx(A)))) \
  HALVES_ONE(cvt_rni_##Ptx, Ptx,                                               \
             bitsOf_##Ptx(__builtin_nearbyintf(valueOf_##Ptx(A))))             \
  HALVES_ONE(cvt_rzi_##Ptx, Ptx,                                               \
             bitsOf_##Ptx(__builtin_truncf(valueOf_##Ptx(A))))                 \
  HALVES_ONE(cvt_rmi_##Ptx, Ptx,                                               \
             bitsOf_##Ptx(__builtin_floorf(valueOf_##Ptx(A))))                 \
  HALVES_ONE(cvt_rpi_##Ptx, Ptx,                                               \
             bitsOf_##Ptx(__builtin_ceilf(valueOf_##Ptx(A))))                  \
  HALVES_COMPARED(eq, Ptx, A == B)                                             \
  HALVES_COMPARED(ne, Ptx, A<B || A> B)                                        \
  HALVES_COMPARED(lt, Ptx, A < B)                                              \
  HALVES_COMPARED(le, Ptx, A <= B)                                             \
  HALVES_COMPARED(gt, Ptx, A > B)                                              \
  HALVES_COMPARED(ge, Ptx, A >= B)                                             \
  HALVES_COMPARED(equ, Ptx, !(A < B || A > B))                                 \
  HALVES_COMPARED(neu, Ptx, A != B)                                            \
  HALVES_COMPARED(ltu, Ptx, !(A >= B))                                         \
  HALVES_COMPARED(leu, Ptx, !(A > B))                                          \
  HALVES_COMPARED(gtu, Ptx, !(A <= B))                                         \
  HALVES_COMPARED(geu, Ptx, !(A < B))                                          \
  HALVES_COMPARED(nan, Ptx, A != A || B != B)                                  \
  HALVES_ATOMIC(Ptx, uint16_t)                                                 \
  HALVES_ATOMIC(Ptx##x2, uint32_t)                                             \
  ASM_ONE(cvt_f32_##Ptx, float, uint16_t, valueOf_##Ptx(A))                    \
  ASM_ONE(cvt_f64_##Ptx, double, uint16_t, valueOf_##Ptx(A))                   \
  ASM_ONE(cvt_rn_##Ptx##_f32, uint16_t, float, bitsOf_##Ptx(A))                \
  ASM_ONE(cvt_rn_##Ptx##_f64, uint16_t, double, bitsOf_##Ptx(A))               \
  ASM_ONE(cvt_rn_##Ptx##_u16, uint16_t, uint16_t, bitsOf_##Ptx(A))             \
  ASM_ONE(cvt_rn_##Ptx##_s16, uint16_t, int16_t, bitsOf_##Ptx(A))              \
  ASM_ONE(cvt_rn_##Ptx##_u32, uint16_t, uint32_t, bitsOf_##Ptx(A))             \
  ASM_ONE(cvt_rn_##Ptx##_s32, uint16_t, int32_t, bitsOf_##Ptx(A))              \
  LIBRARY uint32_t __r3_asm_cvt_rn_##Ptx##x2_f32(float High, float Low) {      \
    return pair(bitsOf_##Ptx(Low), bitsOf_##Ptx(High));                        \
  }                                                                            \
  ASM_FLOAT_TO_INTEGERS(Ptx, uint16_t, valueOf_##Ptx(A), f)
HALVES(f16)
HALVES(bf16)

ASM_ONE(cvt_rz_bf16_f32, uint16_t, float, cut(A, /*Up=*/false))
ASM_ONE(cvt_rm_bf16_f32, uint16_t, float, cut(A, /*Up=*/A < 0))
ASM_ONE(cvt_rp_bf16_f32, uint16_t, float, cut(A, /*Up=*/A > 0))
