// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX arithmetic of f16, bf16 and pairs of them in inline assembly, as CUDA's
// headers cuda_fp16.h and cuda_bf16.h have it: values are their bits. All is
// computed in double, and rounded once (SmallFloats.h). Modifiers (.sat, .relu,
// .ftz) are functions of their own, which AssemblyCode.cpp calls.
#pragma once

#include "AssemblyNumbers.h"
#include "SmallFloats.h"

// --- The same for one value and for both of a pair.

#define HALVES_ONE(Name, Ptx, Bits)                                            \
  LIBRARY uint16_t __r3_asm_##Name##_##Ptx(uint16_t A) { return Bits; }        \
  LIBRARY uint32_t __r3_asm_##Name##_##Ptx##x2(uint32_t A) {                   \
    return pair(__r3_asm_##Name##_##Ptx(low(A)),                               \
                __r3_asm_##Name##_##Ptx(high(A)));                             \
  }
#define HALVES_TWO(Name, Ptx, Value)                                           \
  INLINE double Ptx##_##Name(double A, double B) { return Value; }             \
  LIBRARY uint16_t __r3_asm_##Name##_##Ptx(uint16_t A, uint16_t B) {           \
    return bitsOf_##Ptx(Ptx##_##Name(valueOf_##Ptx(A), valueOf_##Ptx(B)));     \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_##Name##_##Ptx##x2(uint32_t A, uint32_t B) {       \
    return pair(__r3_asm_##Name##_##Ptx(low(A), low(B)),                       \
                __r3_asm_##Name##_##Ptx(high(A), high(B)));                    \
  }
#define HALVES_FMA(Ptx)                                                        \
  LIBRARY uint16_t __r3_asm_fma_rn_##Ptx(uint16_t A, uint16_t B, uint16_t C) { \
    double Product = static_cast<double>(valueOf_##Ptx(A)) * valueOf_##Ptx(B); \
    return bitsOf_##Ptx(oddSum(Product, valueOf_##Ptx(C)));                    \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_fma_rn_##Ptx##x2(uint32_t A, uint32_t B,           \
                                             uint32_t C) {                     \
    return pair(__r3_asm_fma_rn_##Ptx(low(A), low(B), low(C)),                 \
                __r3_asm_fma_rn_##Ptx(high(A), high(B), high(C)));             \
  }

/// The smaller or larger one; of two zeros -0 counts as smaller. A NaN gives
/// the other one.
INLINE double lesser(double A, double B) {
  return A != A || B < A ? B : B != B || A < B || __builtin_signbit(A) ? A : B;
}
INLINE double greater(double A, double B) { return -lesser(-A, -B); }
INLINE double orNaN(double A, double B, double Else) {
  return A != A || B != B ? __builtin_nan("") : Else;
}

// --- Modifiers of a result, or, for ftz, of sources too.

#define HALVES_MODIFIERS(Ptx)                                                  \
  HALVES_ONE(sat, Ptx, bitsOf_##Ptx(__r3_nvvm_saturate_f(valueOf_##Ptx(A))))   \
  HALVES_ONE(relu, Ptx, valueOf_##Ptx(A) < 0 ? 0 : A)                          \
  HALVES_ONE(ftz, Ptx,                                                         \
             (A & (Format_##Ptx::Largest + 1))                                 \
                 ? A                                                           \
                 : static_cast<uint16_t>(A & 0x8000))

// --- Comparisons (set and pairs: AssemblyCode.cpp).

#define HALVES_COMPARED(Name, Ptx, Holds)                                      \
  LIBRARY bool __r3_asm_setp_##Name##_##Ptx(uint16_t Left, uint16_t Right) {   \
    float A = valueOf_##Ptx(Left), B = valueOf_##Ptx(Right);                   \
    return Holds;                                                              \
  }
#define HALVES_COMPARISONS(Ptx)                                                \
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
  HALVES_COMPARED(num, Ptx, A == A && B == B)                                  \
  HALVES_COMPARED(nan, Ptx, A != A || B != B)

// --- Conversions to a half, in all rounding modes.

#define HALVES_FROM(Ptx, Mode, Rounding)                                       \
  ASM_ONE(cvt_##Mode##_##Ptx##_f32, uint16_t, float,                           \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_f64, uint16_t, double,                          \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_u8, uint16_t, uint8_t,                          \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_s8, uint16_t, int8_t,                           \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_u16, uint16_t, uint16_t,                        \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_s16, uint16_t, int16_t,                         \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_u32, uint16_t, uint32_t,                        \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_s32, uint16_t, int32_t,                         \
          bitsOf_##Ptx(A, Rounding))                                           \
  ASM_ONE(cvt_##Mode##_##Ptx##_u64, uint16_t, uint64_t,                        \
          bitsOf_##Ptx(oddDouble(A), Rounding))                                \
  ASM_ONE(cvt_##Mode##_##Ptx##_s64, uint16_t, int64_t,                         \
          bitsOf_##Ptx(oddDouble(A), Rounding))                                \
  LIBRARY uint32_t __r3_asm_cvt_##Mode##_##Ptx##x2_f32(float High,             \
                                                       float Low) {            \
    return pair(bitsOf_##Ptx(Low, Rounding), bitsOf_##Ptx(High, Rounding));    \
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

#define HALVES_INTEGRAL(Ptx, Mode, Builtin)                                    \
  HALVES_ONE(cvt_##Mode##_##Ptx, Ptx,                                          \
             bitsOf_##Ptx(Builtin(static_cast<double>(valueOf_##Ptx(A)))))

#define HALVES(Ptx)                                                            \
  HALVES_TWO(add, Ptx, A + B)                                                  \
  HALVES_TWO(sub, Ptx, A - B)                                                  \
  HALVES_TWO(mul, Ptx, A *B)                                                   \
  HALVES_TWO(add_rn, Ptx, A + B)                                               \
  HALVES_TWO(sub_rn, Ptx, A - B)                                               \
  HALVES_TWO(mul_rn, Ptx, A *B)                                                \
  HALVES_TWO(min, Ptx, lesser(A, B))                                           \
  HALVES_TWO(max, Ptx, greater(A, B))                                          \
  HALVES_TWO(min_NaN, Ptx, orNaN(A, B, lesser(A, B)))                          \
  HALVES_TWO(max_NaN, Ptx, orNaN(A, B, greater(A, B)))                         \
  HALVES_FMA(Ptx)                                                              \
  HALVES_ONE(neg, Ptx, A ^ 0x8000)                                             \
  HALVES_ONE(abs, Ptx, A & 0x7fff)                                             \
  HALVES_ONE(tanh_approx, Ptx, bitsOf_##Ptx(__builtin_tanh(valueOf_##Ptx(A)))) \
  HALVES_ONE(ex2_approx, Ptx, bitsOf_##Ptx(__builtin_exp2(valueOf_##Ptx(A))))  \
  HALVES_INTEGRAL(Ptx, rni, __builtin_nearbyint)                               \
  HALVES_INTEGRAL(Ptx, rzi, __builtin_trunc)                                   \
  HALVES_INTEGRAL(Ptx, rmi, __builtin_floor)                                   \
  HALVES_INTEGRAL(Ptx, rpi, __builtin_ceil)                                    \
  HALVES_MODIFIERS(Ptx)                                                        \
  HALVES_COMPARISONS(Ptx)                                                      \
  HALVES_ATOMIC(Ptx, uint16_t)                                                 \
  HALVES_ATOMIC(Ptx##x2, uint32_t)                                             \
  ASM_ONE(cvt_f32_##Ptx, float, uint16_t, valueOf_##Ptx(A))                    \
  ASM_ONE(cvt_f64_##Ptx, double, uint16_t, valueOf_##Ptx(A))                   \
  HALVES_FROM(Ptx, rn, RoundNearest)                                           \
  HALVES_FROM(Ptx, rz, RoundToZero)                                            \
  HALVES_FROM(Ptx, rm, RoundDown)                                              \
  HALVES_FROM(Ptx, rp, RoundUp)                                                \
  ASM_FLOAT_TO_INTEGERS(Ptx, uint16_t, valueOf_##Ptx(A), f)
HALVES(f16)
HALVES(bf16)
