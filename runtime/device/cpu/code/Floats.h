// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point intrinsics: rounding modes (rn here, others by the engine,
// which switches the processor's mode), approximate instructions by exact
// ones, and conversions that saturate as the GPU's do. Built with
// -ffp-contract=off, so that rn operations are never fused.
#pragma once

#include "Library.h"

static inline __attribute__((always_inline)) float saturate(float Value) {
  return Value > 0 ? (Value < 1 ? Value : 1) : 0; // NaN gives 0
}
LIBRARY float __r3_nvvm_saturate_f(float Value) { return saturate(Value); }
LIBRARY double __r3_nvvm_saturate_d(double Value) {
  return Value > 0 ? (Value < 1 ? Value : 1) : 0;
}

// --- Arithmetic in all rounding modes.

#define BINARY_MODE(Name, Mode, Rounding, Operation)                           \
  LIBRARY float __r3_nvvm_##Name##_##Mode##_f(float A, float B) {              \
    return __r3_cpu_roundedFloat(Operation, Rounding, A, B, 0);                \
  }                                                                            \
  LIBRARY double __r3_nvvm_##Name##_##Mode##_d(double A, double B) {           \
    return __r3_cpu_roundedDouble(Operation, Rounding, A, B, 0);               \
  }
#define BINARY(Name, Operation, Operator)                                      \
  LIBRARY float __r3_nvvm_##Name##_rn_f(float A, float B) {                    \
    return A Operator B;                                                       \
  }                                                                            \
  LIBRARY double __r3_nvvm_##Name##_rn_d(double A, double B) {                 \
    return A Operator B;                                                       \
  }                                                                            \
  BINARY_MODE(Name, rz, RoundToZero, Operation)                                \
  BINARY_MODE(Name, rm, RoundDown, Operation)                                  \
  BINARY_MODE(Name, rp, RoundUp, Operation)
BINARY(add, RoundedAdd, +)
BINARY(mul, RoundedMultiply, *)
BINARY(div, RoundedDivide, /)

#define UNARY_MODE(Mode, Rounding)                                             \
  LIBRARY float __r3_nvvm_sqrt_##Mode##_f(float A) {                           \
    return __r3_cpu_roundedFloat(RoundedSquareRoot, Rounding, A, 0, 0);        \
  }                                                                            \
  LIBRARY double __r3_nvvm_sqrt_##Mode##_d(double A) {                         \
    return __r3_cpu_roundedDouble(RoundedSquareRoot, Rounding, A, 0, 0);       \
  }                                                                            \
  LIBRARY float __r3_nvvm_rcp_##Mode##_f(float A) {                            \
    return __r3_cpu_roundedFloat(RoundedDivide, Rounding, 1, A, 0);            \
  }                                                                            \
  LIBRARY double __r3_nvvm_rcp_##Mode##_d(double A) {                          \
    return __r3_cpu_roundedDouble(RoundedDivide, Rounding, 1, A, 0);           \
  }                                                                            \
  LIBRARY float __r3_nvvm_fma_##Mode##_f(float A, float B, float C) {          \
    return __r3_cpu_roundedFloat(RoundedMultiplyAdd, Rounding, A, B, C);       \
  }                                                                            \
  LIBRARY double __r3_nvvm_fma_##Mode##_d(double A, double B, double C) {      \
    return __r3_cpu_roundedDouble(RoundedMultiplyAdd, Rounding, A, B, C);      \
  }
UNARY_MODE(rz, RoundToZero)
UNARY_MODE(rm, RoundDown)
UNARY_MODE(rp, RoundUp)
LIBRARY float __r3_nvvm_sqrt_rn_f(float A) { return __builtin_sqrtf(A); }
LIBRARY double __r3_nvvm_sqrt_rn_d(double A) { return __builtin_sqrt(A); }
LIBRARY float __r3_nvvm_rcp_rn_f(float A) { return 1 / A; }
LIBRARY double __r3_nvvm_rcp_rn_d(double A) { return 1 / A; }
LIBRARY float __r3_nvvm_fma_rn_f(float A, float B, float C) {
  return __builtin_fmaf(A, B, C);
}
LIBRARY double __r3_nvvm_fma_rn_d(double A, double B, double C) {
  return __builtin_fma(A, B, C);
}

#define SATURATED(Mode)                                                        \
  LIBRARY float __r3_nvvm_add_##Mode##_sat_f(float A, float B) {               \
    return saturate(__r3_nvvm_add_##Mode##_f(A, B));                           \
  }                                                                            \
  LIBRARY float __r3_nvvm_fma_##Mode##_sat_f(float A, float B, float C) {      \
    return saturate(__r3_nvvm_fma_##Mode##_f(A, B, C));                        \
  }
SATURATED(rn)
SATURATED(rz)
SATURATED(rm)
SATURATED(rp)

/// Subtraction is inline assembly in libdevice.
#define SUBTRACT(Mode, NvvmMode)                                               \
  LIBRARY float __nv_fsub_##Mode(float A, float B) {                           \
    return __r3_nvvm_add_##NvvmMode##_f(A, -B);                                \
  }                                                                            \
  LIBRARY double __nv_dsub_##Mode(double A, double B) {                        \
    return __r3_nvvm_add_##NvvmMode##_d(A, -B);                                \
  }
SUBTRACT(rn, rn)
SUBTRACT(rz, rz)
SUBTRACT(rd, rm)
SUBTRACT(ru, rp)

LIBRARY _Float16 __r3_nvvm_fma_rn_f16(_Float16 A, _Float16 B, _Float16 C) {
  // Exact in double where rounding to half could fall between two values.
  return static_cast<_Float16>(static_cast<double>(A) * static_cast<double>(B) +
                               static_cast<double>(C));
}

// --- Approximate instructions, computed exactly.

LIBRARY float __r3_nvvm_sqrt_f(float A) { return __builtin_sqrtf(A); }
LIBRARY float __r3_nvvm_sqrt_approx_f(float A) { return __builtin_sqrtf(A); }
LIBRARY float __r3_nvvm_rsqrt_approx_f(float A) {
  return 1 / __builtin_sqrtf(A);
}
LIBRARY double __r3_nvvm_rsqrt_approx_d(double A) {
  return 1 / __builtin_sqrt(A);
}
LIBRARY float __r3_nvvm_rcp_approx_f(float A) { return 1 / A; }
LIBRARY double __r3_nvvm_rcp_approx_d(double A) { return 1 / A; }
LIBRARY float __r3_nvvm_div_approx_f(float A, float B) { return A / B; }
LIBRARY float __r3_nvvm_div_full(float A, float B) { return A / B; }
LIBRARY float __r3_nvvm_ex2_approx_f32(float A) { return __builtin_exp2f(A); }
LIBRARY float __r3_nvvm_ex2_approx_f(float A) { return __builtin_exp2f(A); }
LIBRARY double __r3_nvvm_ex2_approx_d(double A) { return __builtin_exp2(A); }
LIBRARY _Float16 __r3_nvvm_ex2_approx_f16(_Float16 A) {
  return static_cast<_Float16>(__builtin_exp2f(static_cast<float>(A)));
}
LIBRARY float __r3_nvvm_lg2_approx_f(float A) { return __builtin_log2f(A); }
LIBRARY double __r3_nvvm_lg2_approx_d(double A) { return __builtin_log2(A); }
LIBRARY float __r3_nvvm_sin_approx_f(float A) { return __builtin_sinf(A); }
LIBRARY float __r3_nvvm_cos_approx_f(float A) { return __builtin_cosf(A); }
LIBRARY float __r3_nvvm_tanh_approx_f32(float A) { return __builtin_tanhf(A); }

// --- Signs, integers as floats, minimum and maximum.

LIBRARY float __r3_nvvm_fabs_f32(float A) { return __builtin_fabsf(A); }
LIBRARY double __r3_nvvm_fabs_f64(double A) { return __builtin_fabs(A); }
LIBRARY float __r3_nvvm_fabs_f(float A) { return __builtin_fabsf(A); }
LIBRARY double __r3_nvvm_fabs_d(double A) { return __builtin_fabs(A); }
#define TO_INTEGRAL(Name, Builtin)                                             \
  LIBRARY float __r3_nvvm_##Name##_f(float A) { return Builtin##f(A); }        \
  LIBRARY double __r3_nvvm_##Name##_d(double A) { return Builtin(A); }
TO_INTEGRAL(floor, __builtin_floor)
TO_INTEGRAL(ceil, __builtin_ceil)
TO_INTEGRAL(trunc, __builtin_trunc)
TO_INTEGRAL(round, __builtin_nearbyint) // to nearest, ties to even

LIBRARY float __r3_nvvm_fmin_f(float A, float B) {
  return __builtin_fminf(A, B);
}
LIBRARY float __r3_nvvm_fmax_f(float A, float B) {
  return __builtin_fmaxf(A, B);
}
LIBRARY double __r3_nvvm_fmin_d(double A, double B) {
  return __builtin_fmin(A, B);
}
LIBRARY double __r3_nvvm_fmax_d(double A, double B) {
  return __builtin_fmax(A, B);
}
LIBRARY float __r3_nvvm_fmin_nan_f(float A, float B) {
  return A != A || B != B ? __builtin_nanf("") : __builtin_fminf(A, B);
}
LIBRARY float __r3_nvvm_fmax_nan_f(float A, float B) {
  return A != A || B != B ? __builtin_nanf("") : __builtin_fmaxf(A, B);
}

// --- Bits of doubles.

LIBRARY int32_t __r3_nvvm_d2i_hi(double A) {
  return static_cast<int32_t>(__builtin_bit_cast(uint64_t, A) >> 32);
}
LIBRARY int32_t __r3_nvvm_d2i_lo(double A) {
  return static_cast<int32_t>(__builtin_bit_cast(uint64_t, A));
}
LIBRARY double __r3_nvvm_lohi_i2d(uint32_t Low, uint32_t High) {
  return __builtin_bit_cast(double, static_cast<uint64_t>(High) << 32 | Low);
}

// --- To integers: rounded, then saturated; NaN as the GPU has it.

template <typename To, typename From>
static inline __attribute__((always_inline)) To toInteger(From Rounded) {
  constexpr bool Signed = static_cast<To>(-1) < 0;
  constexpr unsigned Bits = sizeof(To) * 8;
  constexpr To Lowest = Signed ? static_cast<To>(uint64_t(1) << (Bits - 1)) : 0;
  constexpr From Limit = // the first value that does not fit
      static_cast<From>(uint64_t(1) << (Bits - 1)) * (Signed ? 1 : 2);
  if (Rounded != Rounded)
    return sizeof(To) <= 4 && sizeof(From) == 4
               ? 0
               : static_cast<To>(uint64_t(1) << (Bits - 1));
  if (Rounded >= Limit)
    return static_cast<To>(~Lowest);
  if (Rounded <= static_cast<From>(Lowest))
    return Lowest;
  return static_cast<To>(Rounded);
}
#define FLOAT_TO(Name, Type)                                                   \
  LIBRARY Type __r3_nvvm_f2##Name##_rn(float A) {                              \
    return toInteger<Type>(__builtin_nearbyintf(A));                           \
  }                                                                            \
  LIBRARY Type __r3_nvvm_f2##Name##_rz(float A) {                              \
    return toInteger<Type>(__builtin_truncf(A));                               \
  }                                                                            \
  LIBRARY Type __r3_nvvm_f2##Name##_rm(float A) {                              \
    return toInteger<Type>(__builtin_floorf(A));                               \
  }                                                                            \
  LIBRARY Type __r3_nvvm_f2##Name##_rp(float A) {                              \
    return toInteger<Type>(__builtin_ceilf(A));                                \
  }                                                                            \
  LIBRARY Type __r3_nvvm_d2##Name##_rn(double A) {                             \
    return toInteger<Type>(__builtin_nearbyint(A));                            \
  }                                                                            \
  LIBRARY Type __r3_nvvm_d2##Name##_rz(double A) {                             \
    return toInteger<Type>(__builtin_trunc(A));                                \
  }                                                                            \
  LIBRARY Type __r3_nvvm_d2##Name##_rm(double A) {                             \
    return toInteger<Type>(__builtin_floor(A));                                \
  }                                                                            \
  LIBRARY Type __r3_nvvm_d2##Name##_rp(double A) {                             \
    return toInteger<Type>(__builtin_ceil(A));                                 \
  }
FLOAT_TO(i, int32_t)
FLOAT_TO(ui, uint32_t)
FLOAT_TO(ll, int64_t)
FLOAT_TO(ull, uint64_t)

// --- From integers, and between widths.

#define FROM_INTEGER(Name, Type, Float, Double)                                \
  LIBRARY float __r3_nvvm_##Name##2f_rn(Type A) { return A; }                  \
  LIBRARY float __r3_nvvm_##Name##2f_rz(Type A) {                              \
    return Float(RoundToZero, A);                                              \
  }                                                                            \
  LIBRARY float __r3_nvvm_##Name##2f_rm(Type A) {                              \
    return Float(RoundDown, A);                                                \
  }                                                                            \
  LIBRARY float __r3_nvvm_##Name##2f_rp(Type A) { return Float(RoundUp, A); }  \
  LIBRARY double __r3_nvvm_##Name##2d_rn(Type A) { return A; }                 \
  LIBRARY double __r3_nvvm_##Name##2d_rz(Type A) {                             \
    return Double(RoundToZero, A);                                             \
  }                                                                            \
  LIBRARY double __r3_nvvm_##Name##2d_rm(Type A) {                             \
    return Double(RoundDown, A);                                               \
  }                                                                            \
  LIBRARY double __r3_nvvm_##Name##2d_rp(Type A) { return Double(RoundUp, A); }
FROM_INTEGER(i, int32_t, __r3_cpu_roundedSignedToFloat,
             __r3_cpu_roundedSignedToDouble)
FROM_INTEGER(ll, int64_t, __r3_cpu_roundedSignedToFloat,
             __r3_cpu_roundedSignedToDouble)
FROM_INTEGER(ui, uint32_t, __r3_cpu_roundedUnsignedToFloat,
             __r3_cpu_roundedUnsignedToDouble)
FROM_INTEGER(ull, uint64_t, __r3_cpu_roundedUnsignedToFloat,
             __r3_cpu_roundedUnsignedToDouble)

LIBRARY float __r3_nvvm_d2f_rn(double A) { return static_cast<float>(A); }
LIBRARY float __r3_nvvm_d2f_rz(double A) {
  return __r3_cpu_roundedToFloat(RoundToZero, A);
}
LIBRARY float __r3_nvvm_d2f_rm(double A) {
  return __r3_cpu_roundedToFloat(RoundDown, A);
}
LIBRARY float __r3_nvvm_d2f_rp(double A) {
  return __r3_cpu_roundedToFloat(RoundUp, A);
}
LIBRARY uint16_t __r3_nvvm_f2h_rn(float A) {
  return __builtin_bit_cast(uint16_t, static_cast<_Float16>(A));
}
