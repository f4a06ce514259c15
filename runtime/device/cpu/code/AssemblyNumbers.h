// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX arithmetic, comparisons and conversions of integers, float and double
// in inline assembly: __r3_asm_<instruction>, its inputs in order.
#pragma once

#include "Floats.h"

#define ASM_ONE(Name, Result, Type, Expression)                                \
  LIBRARY Result __r3_asm_##Name(Type A) {                                     \
    return static_cast<Result>(Expression);                                    \
  }
#define ASM_TWO(Name, Result, Type, Expression)                                \
  LIBRARY Result __r3_asm_##Name(Type A, Type B) {                             \
    return static_cast<Result>(Expression);                                    \
  }
#define ASM_THREE(Name, Result, Type, Expression)                              \
  LIBRARY Result __r3_asm_##Name(Type A, Type B, Type C) {                     \
    return static_cast<Result>(Expression);                                    \
  }

// --- Bits.

#define ASM_BITS(Ptx, Type)                                                    \
  ASM_TWO(and_##Ptx, Type, Type, A &B)                                         \
  ASM_TWO(or_##Ptx, Type, Type, A | B)                                         \
  ASM_TWO(xor_##Ptx, Type, Type, A ^ B)                                        \
  ASM_ONE(cnot_##Ptx, Type, Type, A == 0)                                      \
  LIBRARY Type __r3_asm_selp_##Ptx(Type A, Type B, bool First) {               \
    return First ? A : B;                                                      \
  }
#define ASM_SHIFTED(Ptx, Type)                                                 \
  ASM_BITS(Ptx, Type)                                                          \
  ASM_ONE(not_##Ptx, Type, Type, ~A)                                           \
  LIBRARY Type __r3_asm_shl_##Ptx(Type A, uint32_t Amount) {                   \
    return static_cast<Type>(Amount < 8 * sizeof(Type) ? A << Amount : 0);     \
  }                                                                            \
  LIBRARY Type __r3_asm_shr_##Ptx(Type A, uint32_t Amount) {                   \
    return static_cast<Type>(Amount < 8 * sizeof(Type) ? A >> Amount : 0);     \
  }
ASM_SHIFTED(b16, uint16_t)
ASM_SHIFTED(b32, uint32_t)
ASM_SHIFTED(b64, uint64_t)
ASM_BITS(pred, bool)
ASM_ONE(not_pred, bool, bool, !A)
ASM_ONE(popc_b32, uint32_t, uint32_t, __builtin_popcount(A))
ASM_ONE(popc_b64, uint32_t, uint64_t, __builtin_popcountll(A))
ASM_ONE(clz_b32, uint32_t, uint32_t, A ? __builtin_clz(A) : 32)
ASM_ONE(clz_b64, uint32_t, uint64_t, A ? __builtin_clzll(A) : 64)
ASM_ONE(brev_b32, uint32_t, uint32_t, __builtin_bitreverse32(A))
ASM_ONE(brev_b64, uint64_t, uint64_t, __builtin_bitreverse64(A))

// --- Integers. Modular is the unsigned type, in which sums may wrap.

#define ASM_COMPARED(Ptx, Type)                                                \
  ASM_TWO(setp_eq_##Ptx, bool, Type, A == B)                                   \
  ASM_TWO(setp_lt_##Ptx, bool, Type, A < B)                                    \
  ASM_TWO(setp_le_##Ptx, bool, Type, A <= B)                                   \
  ASM_TWO(setp_gt_##Ptx, bool, Type, A > B)                                    \
  ASM_TWO(setp_ge_##Ptx, bool, Type, A >= B)
#define ASM_INTEGER(Ptx, Type, Modular, Wide)                                  \
  ASM_COMPARED(Ptx, Type)                                                      \
  ASM_TWO(setp_ne_##Ptx, bool, Type, A != B)                                   \
  ASM_TWO(add_##Ptx, Modular, Modular, A + B)                                  \
  ASM_TWO(sub_##Ptx, Modular, Modular, A - B)                                  \
  ASM_TWO(mul_lo_##Ptx, Modular, Modular, 1u * A * B)                          \
  ASM_THREE(mad_lo_##Ptx, Modular, Modular, 1u * A * B + C)                    \
  ASM_TWO(mul_hi_##Ptx, Type, Type,                                            \
          static_cast<Wide>(A) * static_cast<Wide>(B) >> 8 * sizeof(Type))     \
  ASM_TWO(min_##Ptx, Type, Type, A < B ? A : B)                                \
  ASM_TWO(max_##Ptx, Type, Type, A > B ? A : B)                                \
  ASM_TWO(div_##Ptx, Type, Type, A / B)                                        \
  ASM_TWO(rem_##Ptx, Type, Type, A % B)                                        \
  LIBRARY Type __r3_asm_selp_##Ptx(Type A, Type B, bool First) {               \
    return First ? A : B;                                                      \
  }                                                                            \
  LIBRARY Type __r3_asm_shr_##Ptx(Type A, uint32_t Amount) {                   \
    constexpr uint32_t Last = 8 * sizeof(Type) - 1;                            \
    return static_cast<Type>(Amount <= Last ? A >> Amount : (A >> Last) >> 1); \
  }
#define ASM_WIDENED(Ptx, Type, Wide)                                           \
  ASM_TWO(mul_wide_##Ptx, Wide, Type,                                          \
          static_cast<Wide>(A) * static_cast<Wide>(B))                         \
  LIBRARY Wide __r3_asm_mad_wide_##Ptx(Type A, Type B, Wide C) {               \
    return static_cast<Wide>(static_cast<uint64_t>(static_cast<Wide>(A)) *     \
                                 static_cast<uint64_t>(static_cast<Wide>(B)) + \
                             static_cast<uint64_t>(C));                        \
  }
ASM_INTEGER(u16, uint16_t, uint16_t, uint32_t)
ASM_INTEGER(s16, int16_t, uint16_t, int32_t)
ASM_INTEGER(u32, uint32_t, uint32_t, uint64_t)
ASM_INTEGER(s32, int32_t, uint32_t, int64_t)
ASM_INTEGER(u64, uint64_t, uint64_t, unsigned __int128)
ASM_INTEGER(s64, int64_t, uint64_t, __int128)
ASM_WIDENED(u16, uint16_t, uint32_t)
ASM_WIDENED(s16, int16_t, int32_t)
ASM_WIDENED(u32, uint32_t, uint64_t)
ASM_WIDENED(s32, int32_t, int64_t)
ASM_TWO(setp_eq_b16, bool, uint16_t, A == B)
ASM_TWO(setp_ne_b16, bool, uint16_t, A != B)
ASM_TWO(setp_eq_b32, bool, uint32_t, A == B)
ASM_TWO(setp_ne_b32, bool, uint32_t, A != B)
ASM_TWO(setp_eq_b64, bool, uint64_t, A == B)
ASM_TWO(setp_ne_b64, bool, uint64_t, A != B)
#define ASM_SIGNED(Ptx, Modular)                                               \
  ASM_ONE(neg_##Ptx, Modular, Modular, 0 - A)                                  \
  ASM_ONE(abs_##Ptx, Modular, Modular,                                         \
          A >> (8 * sizeof(Modular) - 1) ? 0 - A : A)
ASM_SIGNED(s16, uint16_t)
ASM_SIGNED(s32, uint32_t)
ASM_SIGNED(s64, uint64_t)

// --- float and double.

/// Ordered comparisons as they are; unordered ones also hold for NaN.
#define ASM_COMPARED_FLOATS(Ptx, Type)                                         \
  ASM_COMPARED(Ptx, Type)                                                      \
  ASM_TWO(setp_ne_##Ptx, bool, Type, A<B || A> B)                              \
  ASM_TWO(setp_equ_##Ptx, bool, Type, !(A < B || A > B))                       \
  ASM_TWO(setp_neu_##Ptx, bool, Type, A != B)                                  \
  ASM_TWO(setp_ltu_##Ptx, bool, Type, !(A >= B))                               \
  ASM_TWO(setp_leu_##Ptx, bool, Type, !(A > B))                                \
  ASM_TWO(setp_gtu_##Ptx, bool, Type, !(A <= B))                               \
  ASM_TWO(setp_geu_##Ptx, bool, Type, !(A < B))                                \
  ASM_TWO(setp_num_##Ptx, bool, Type, A == A && B == B)                        \
  ASM_TWO(setp_nan_##Ptx, bool, Type, A != A || B != B)
#define ASM_FLOAT(Ptx, Nvvm, Type, Suffix)                                     \
  ASM_COMPARED_FLOATS(Ptx, Type)                                               \
  ASM_TWO(add_##Ptx, Type, Type, A + B)                                        \
  ASM_TWO(add_rn_##Ptx, Type, Type, A + B)                                     \
  ASM_TWO(sub_##Ptx, Type, Type, A - B)                                        \
  ASM_TWO(sub_rn_##Ptx, Type, Type, A - B)                                     \
  ASM_TWO(mul_##Ptx, Type, Type, A *B)                                         \
  ASM_TWO(mul_rn_##Ptx, Type, Type, A *B)                                      \
  ASM_TWO(div_rn_##Ptx, Type, Type, A / B)                                     \
  ASM_THREE(fma_rn_##Ptx, Type, Type, __r3_nvvm_fma_rn_##Nvvm(A, B, C))        \
  ASM_TWO(min_##Ptx, Type, Type, __r3_nvvm_fmin_##Nvvm(A, B))                  \
  ASM_TWO(max_##Ptx, Type, Type, __r3_nvvm_fmax_##Nvvm(A, B))                  \
  ASM_ONE(neg_##Ptx, Type, Type, -A)                                           \
  ASM_ONE(abs_##Ptx, Type, Type, __builtin_fabs##Suffix(A))                    \
  ASM_ONE(sqrt_rn_##Ptx, Type, Type, __builtin_sqrt##Suffix(A))                \
  ASM_ONE(rcp_rn_##Ptx, Type, Type, 1 / A)                                     \
  ASM_ONE(cvt_rni_##Ptx##_##Ptx, Type, Type, __builtin_nearbyint##Suffix(A))   \
  ASM_ONE(cvt_rzi_##Ptx##_##Ptx, Type, Type, __builtin_trunc##Suffix(A))       \
  ASM_ONE(cvt_rmi_##Ptx##_##Ptx, Type, Type, __builtin_floor##Suffix(A))       \
  ASM_ONE(cvt_rpi_##Ptx##_##Ptx, Type, Type, __builtin_ceil##Suffix(A))        \
  LIBRARY Type __r3_asm_selp_##Ptx(Type A, Type B, bool First) {               \
    return First ? A : B;                                                      \
  }
ASM_FLOAT(f32, f, float, f)
ASM_FLOAT(f64, d, double, )

/// The other rounding modes, which the intrinsics have, too.
#define ASM_DIRECTED(Ptx, Nvvm, Type, Mode)                                    \
  ASM_TWO(add_##Mode##_##Ptx, Type, Type, __r3_nvvm_add_##Mode##_##Nvvm(A, B)) \
  ASM_TWO(sub_##Mode##_##Ptx, Type, Type,                                      \
          __r3_nvvm_add_##Mode##_##Nvvm(A, -B))                                \
  ASM_TWO(mul_##Mode##_##Ptx, Type, Type, __r3_nvvm_mul_##Mode##_##Nvvm(A, B)) \
  ASM_TWO(div_##Mode##_##Ptx, Type, Type, __r3_nvvm_div_##Mode##_##Nvvm(A, B)) \
  ASM_ONE(rcp_##Mode##_##Ptx, Type, Type, __r3_nvvm_rcp_##Mode##_##Nvvm(A))    \
  ASM_ONE(sqrt_##Mode##_##Ptx, Type, Type, __r3_nvvm_sqrt_##Mode##_##Nvvm(A))  \
  ASM_THREE(fma_##Mode##_##Ptx, Type, Type,                                    \
            __r3_nvvm_fma_##Mode##_##Nvvm(A, B, C))
ASM_DIRECTED(f32, f, float, rz)
ASM_DIRECTED(f32, f, float, rm)
ASM_DIRECTED(f32, f, float, rp)
ASM_DIRECTED(f64, d, double, rz)
ASM_DIRECTED(f64, d, double, rm)
ASM_DIRECTED(f64, d, double, rp)

// Choices by a sign, signs, and kinds of numbers.
#define ASM_CHOSEN(Ptx, Type)                                                  \
  LIBRARY Type __r3_asm_slct_##Ptx##_s32(Type A, Type B, int32_t C) {          \
    return C >= 0 ? A : B;                                                     \
  }                                                                            \
  LIBRARY Type __r3_asm_slct_##Ptx##_f32(Type A, Type B, float C) {            \
    return C >= 0 ? A : B;                                                     \
  }
ASM_CHOSEN(b32, uint32_t)
ASM_CHOSEN(u32, uint32_t)
ASM_CHOSEN(s32, uint32_t)
ASM_CHOSEN(b64, uint64_t)
ASM_CHOSEN(u64, uint64_t)
ASM_CHOSEN(s64, uint64_t)
ASM_CHOSEN(f32, float)
ASM_CHOSEN(f64, double)
#define ASM_KINDS(Ptx, Type, Suffix, SmallestNormal)                           \
  ASM_TWO(copysign_##Ptx, Type, Type, __builtin_copysign##Suffix(B, A))        \
  ASM_ONE(testp_finite_##Ptx, bool, Type, A - A == 0)                          \
  ASM_ONE(testp_infinite_##Ptx, bool, Type, A == A && A - A != 0)              \
  ASM_ONE(testp_number_##Ptx, bool, Type, A == A)                              \
  ASM_ONE(testp_notanumber_##Ptx, bool, Type, A != A)                          \
  ASM_ONE(testp_normal_##Ptx, bool, Type,                                      \
          A - A == 0 && __builtin_fabs##Suffix(A) >= SmallestNormal)           \
  ASM_ONE(testp_subnormal_##Ptx, bool, Type,                                   \
          A != 0 && __builtin_fabs##Suffix(A) < SmallestNormal)
ASM_KINDS(f32, float, f, 0x1p-126f)
ASM_KINDS(f64, double, , 0x1p-1022)

// Modifiers of a result, or, for ftz, of sources too.
ASM_ONE(sat_f32, float, float, saturate(A))
ASM_ONE(sat_f64, double, double, __r3_nvvm_saturate_d(A))
ASM_ONE(ftz_f32, float, float,
        __builtin_fabsf(A) < 0x1p-126f ? __builtin_copysignf(0, A) : A)

ASM_TWO(div_approx_f32, float, float, A / B)
ASM_TWO(div_full_f32, float, float, A / B)
ASM_ONE(rcp_approx_f32, float, float, 1 / A)
ASM_ONE(sqrt_approx_f32, float, float, __builtin_sqrtf(A))
ASM_ONE(rsqrt_approx_f32, float, float, 1 / __builtin_sqrtf(A))
ASM_ONE(rsqrt_approx_f64, double, double, 1 / __builtin_sqrt(A))
ASM_ONE(rcp_approx_f64, double, double, 1 / A)
ASM_ONE(ex2_approx_f32, float, float, __builtin_exp2f(A))
ASM_ONE(lg2_approx_f32, float, float, __builtin_log2f(A))
ASM_ONE(sin_approx_f32, float, float, __builtin_sinf(A))
ASM_ONE(cos_approx_f32, float, float, __builtin_cosf(A))
ASM_ONE(tanh_approx_f32, float, float, __builtin_tanhf(A))

// --- Conversions.

template <typename To, typename From>
static inline __attribute__((always_inline)) To saturateTo(From Value) {
  constexpr bool IsSigned = static_cast<To>(-1) < 0;
  constexpr __int128 Most = (__int128(1) << (8 * sizeof(To) - IsSigned)) - 1;
  constexpr __int128 Least = IsSigned ? -Most - 1 : 0;
  __int128 Wide = Value;
  return static_cast<To>(Wide < Least ? Least : Wide > Most ? Most : Wide);
}

#define ASM_TO_INTEGERS(Ptx, Type)                                             \
  ASM_ONE(cvt_u8_##Ptx, uint8_t, Type, A)                                      \
  ASM_ONE(cvt_s8_##Ptx, int8_t, Type, A)                                       \
  ASM_ONE(cvt_u16_##Ptx, uint16_t, Type, A)                                    \
  ASM_ONE(cvt_s16_##Ptx, int16_t, Type, A)                                     \
  ASM_ONE(cvt_u32_##Ptx, uint32_t, Type, A)                                    \
  ASM_ONE(cvt_s32_##Ptx, int32_t, Type, A)                                     \
  ASM_ONE(cvt_u64_##Ptx, uint64_t, Type, A)                                    \
  ASM_ONE(cvt_s64_##Ptx, int64_t, Type, A)                                     \
  ASM_ONE(cvt_rn_f32_##Ptx, float, Type, A)                                    \
  ASM_ONE(cvt_rn_f64_##Ptx, double, Type, A)
ASM_TO_INTEGERS(u8, uint8_t)
ASM_TO_INTEGERS(s8, int8_t)
ASM_TO_INTEGERS(u16, uint16_t)
ASM_TO_INTEGERS(s16, int16_t)
ASM_TO_INTEGERS(u32, uint32_t)
ASM_TO_INTEGERS(s32, int32_t)
ASM_TO_INTEGERS(u64, uint64_t)
ASM_TO_INTEGERS(s64, int64_t)

/// .sat: to the nearest value that the narrower type has.
#define ASM_SATURATED_TO(To, ToType, Ptx, Type)                                \
  ASM_ONE(cvt_sat_##To##_##Ptx, ToType, Type, saturateTo<ToType>(A))
#define ASM_SATURATED(Ptx, Type)                                               \
  ASM_SATURATED_TO(u8, uint8_t, Ptx, Type)                                     \
  ASM_SATURATED_TO(s8, int8_t, Ptx, Type)                                      \
  ASM_SATURATED_TO(u16, uint16_t, Ptx, Type)                                   \
  ASM_SATURATED_TO(s16, int16_t, Ptx, Type)                                    \
  ASM_SATURATED_TO(u32, uint32_t, Ptx, Type)                                   \
  ASM_SATURATED_TO(s32, int32_t, Ptx, Type)                                    \
  ASM_SATURATED_TO(u64, uint64_t, Ptx, Type)                                   \
  ASM_SATURATED_TO(s64, int64_t, Ptx, Type)
ASM_SATURATED(u8, uint8_t)
ASM_SATURATED(s8, int8_t)
ASM_SATURATED(u16, uint16_t)
ASM_SATURATED(s16, int16_t)
ASM_SATURATED(u32, uint32_t)
ASM_SATURATED(s32, int32_t)
ASM_SATURATED(u64, uint64_t)
ASM_SATURATED(s64, int64_t)

#define ASM_FROM_INTEGER(Mode, Ptx, Type, Nvvm)                                \
  ASM_ONE(cvt_##Mode##_f32_##Ptx, float, Type, __r3_nvvm_##Nvvm##2f_##Mode(A)) \
  ASM_ONE(cvt_##Mode##_f64_##Ptx, double, Type, __r3_nvvm_##Nvvm##2d_##Mode(A))
#define ASM_FROM_INTEGERS(Mode)                                                \
  ASM_FROM_INTEGER(Mode, u32, uint32_t, ui)                                    \
  ASM_FROM_INTEGER(Mode, s32, int32_t, i)                                      \
  ASM_FROM_INTEGER(Mode, u64, uint64_t, ull)                                   \
  ASM_FROM_INTEGER(Mode, s64, int64_t, ll)
ASM_FROM_INTEGERS(rz)
ASM_FROM_INTEGERS(rm)
ASM_FROM_INTEGERS(rp)

/// Value is what the name's register holds, as a float or double.
#define ASM_ROUNDED(To, Type, Ptx, Held, Value, Suffix)                        \
  ASM_ONE(cvt_rni_##To##_##Ptx, Type, Held,                                    \
          toInteger<Type>(__builtin_nearbyint##Suffix(Value)))                 \
  ASM_ONE(cvt_rzi_##To##_##Ptx, Type, Held,                                    \
          toInteger<Type>(__builtin_trunc##Suffix(Value)))                     \
  ASM_ONE(cvt_rmi_##To##_##Ptx, Type, Held,                                    \
          toInteger<Type>(__builtin_floor##Suffix(Value)))                     \
  ASM_ONE(cvt_rpi_##To##_##Ptx, Type, Held,                                    \
          toInteger<Type>(__builtin_ceil##Suffix(Value)))
#define ASM_FLOAT_TO_INTEGERS(Ptx, Held, Value, Suffix)                        \
  ASM_ROUNDED(u8, uint8_t, Ptx, Held, Value, Suffix)                           \
  ASM_ROUNDED(s8, int8_t, Ptx, Held, Value, Suffix)                            \
  ASM_ROUNDED(u16, uint16_t, Ptx, Held, Value, Suffix)                         \
  ASM_ROUNDED(s16, int16_t, Ptx, Held, Value, Suffix)                          \
  ASM_ROUNDED(u32, uint32_t, Ptx, Held, Value, Suffix)                         \
  ASM_ROUNDED(s32, int32_t, Ptx, Held, Value, Suffix)                          \
  ASM_ROUNDED(u64, uint64_t, Ptx, Held, Value, Suffix)                         \
  ASM_ROUNDED(s64, int64_t, Ptx, Held, Value, Suffix)
ASM_FLOAT_TO_INTEGERS(f32, float, A, f)
ASM_FLOAT_TO_INTEGERS(f64, double, A, )
ASM_ONE(cvt_f64_f32, double, float, A)
ASM_ONE(cvt_rn_f32_f64, float, double, A)
ASM_ONE(cvt_rz_f32_f64, float, double, __r3_nvvm_d2f_rz(A))
ASM_ONE(cvt_rm_f32_f64, float, double, __r3_nvvm_d2f_rm(A))
ASM_ONE(cvt_rp_f32_f64, float, double, __r3_nvvm_d2f_rp(A))
