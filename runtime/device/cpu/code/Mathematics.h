// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of libdevice, by name, in place of their bodies: the host's libm
// where it has them, else a few lines in higher precision. Those that are not
// here (integer and conversion functions) keep their bodies, which consist of
// intrinsics.
#pragma once

#include "Library.h"

#define FUNCTION1(Name)                                                        \
  LIBRARY float __nv_##Name##f(float A) { return __builtin_##Name##f(A); }     \
  LIBRARY double __nv_##Name(double A) { return __builtin_##Name(A); }
#define FUNCTION2(Name)                                                        \
  LIBRARY float __nv_##Name##f(float A, float B) {                             \
    return __builtin_##Name##f(A, B);                                          \
  }                                                                            \
  LIBRARY double __nv_##Name(double A, double B) {                             \
    return __builtin_##Name(A, B);                                             \
  }
FUNCTION1(sin)
FUNCTION1(cos)
FUNCTION1(tan)
FUNCTION1(asin)
FUNCTION1(acos)
FUNCTION1(atan)
FUNCTION1(sinh)
FUNCTION1(cosh)
FUNCTION1(tanh)
FUNCTION1(asinh)
FUNCTION1(acosh)
FUNCTION1(atanh)
FUNCTION1(exp)
FUNCTION1(exp2)
FUNCTION1(exp10)
FUNCTION1(expm1)
FUNCTION1(log)
FUNCTION1(log2)
FUNCTION1(log10)
FUNCTION1(log1p)
FUNCTION1(logb)
FUNCTION1(cbrt)
FUNCTION1(erf)
FUNCTION1(erfc)
FUNCTION1(tgamma)
FUNCTION1(round)
FUNCTION1(rint)
FUNCTION1(nearbyint)
FUNCTION1(sqrt)
FUNCTION1(floor)
FUNCTION1(ceil)
FUNCTION1(trunc)
FUNCTION1(fabs)
FUNCTION2(atan2)
FUNCTION2(pow)
FUNCTION2(hypot)
FUNCTION2(fmod)
FUNCTION2(remainder)
FUNCTION2(nextafter)
FUNCTION2(fdim)
FUNCTION2(fmin)
FUNCTION2(fmax)
FUNCTION2(copysign)

LIBRARY float __nv_fmaf(float A, float B, float C) {
  return __builtin_fmaf(A, B, C);
}
LIBRARY double __nv_fma(double A, double B, double C) {
  return __builtin_fma(A, B, C);
}
LIBRARY float __nv_fast_tanhf(float A) { return __builtin_tanhf(A); }
LIBRARY float __nv_fast_sinf(float A) { return __builtin_sinf(A); }
LIBRARY float __nv_fast_cosf(float A) { return __builtin_cosf(A); }
LIBRARY float __nv_fast_tanf(float A) { return __builtin_tanf(A); }
LIBRARY float __nv_fast_expf(float A) { return __builtin_expf(A); }
LIBRARY float __nv_fast_exp10f(float A) { return __builtin_exp10f(A); }
LIBRARY float __nv_fast_logf(float A) { return __builtin_logf(A); }
LIBRARY float __nv_fast_log2f(float A) { return __builtin_log2f(A); }
LIBRARY float __nv_fast_log10f(float A) { return __builtin_log10f(A); }
LIBRARY float __nv_fast_fdividef(float A, float B) { return A / B; }

// --- Several results.

#define SINCOS(Name, Type, Sine, Cosine)                                       \
  LIBRARY void __nv_##Name(Type A, Type *S, Type *C) {                         \
    *S = Sine(A);                                                              \
    *C = Cosine(A);                                                            \
  }
SINCOS(sincos, double, __builtin_sin, __builtin_cos)
SINCOS(sincosf, float, __builtin_sinf, __builtin_cosf)
SINCOS(fast_sincosf, float, __builtin_sinf, __builtin_cosf)

#define WITH_POINTER(Name, Type, Pointer)                                      \
  LIBRARY Type##_t __nv_##Name(Type##_t A, Pointer *P) {                       \
    return __builtin_##Name(A, P);                                             \
  }
using double_t = double;
using float_t = float;
WITH_POINTER(frexp, double, int)
WITH_POINTER(frexpf, float, int)
WITH_POINTER(modf, double, double)
WITH_POINTER(modff, float, float)
LIBRARY double __nv_remquo(double A, double B, int *Q) {
  return __builtin_remquo(A, B, Q);
}
LIBRARY float __nv_remquof(float A, float B, int *Q) {
  return __builtin_remquof(A, B, Q);
}

// --- An integer argument or result.

LIBRARY double __nv_ldexp(double A, int32_t N) { return __builtin_ldexp(A, N); }
LIBRARY float __nv_ldexpf(float A, int32_t N) { return __builtin_ldexpf(A, N); }
LIBRARY double __nv_scalbn(double A, int32_t N) {
  return __builtin_ldexp(A, N);
}
LIBRARY float __nv_scalbnf(float A, int32_t N) {
  return __builtin_ldexpf(A, N);
}
LIBRARY double __nv_powi(double A, int32_t N) { return __builtin_pow(A, N); }
LIBRARY float __nv_powif(float A, int32_t N) {
  return static_cast<float>(__builtin_pow(A, N));
}
LIBRARY int32_t __nv_ilogb(double A) { return __builtin_ilogb(A); }
LIBRARY int32_t __nv_ilogbf(float A) { return __builtin_ilogbf(A); }

// --- Bessel functions, and the logarithm of gamma without libm's global sign.

#define BESSEL(Name)                                                           \
  extern "C" __attribute__((const)) double Name(double);                       \
  extern "C" __attribute__((const)) float Name##f(float);                      \
  LIBRARY double __nv_##Name(double A) { return Name(A); }                     \
  LIBRARY float __nv_##Name##f(float A) { return Name##f(A); }
#define BESSEL_N(Name)                                                         \
  extern "C" __attribute__((const)) double Name(int32_t, double);              \
  extern "C" __attribute__((const)) float Name##f(int32_t, float);             \
  LIBRARY double __nv_##Name(int32_t N, double A) { return Name(N, A); }       \
  LIBRARY float __nv_##Name##f(int32_t N, float A) { return Name##f(N, A); }
BESSEL(j0)
BESSEL(j1)
BESSEL(y0)
BESSEL(y1)
BESSEL_N(jn)
BESSEL_N(yn)

extern "C" double lgamma_r(double, int *);
extern "C" float lgammaf_r(float, int *);
LIBRARY double __nv_lgamma(double A) {
  int Sign;
  return lgamma_r(A, &Sign);
}
LIBRARY float __nv_lgammaf(float A) {
  int Sign;
  return lgammaf_r(A, &Sign);
}

// --- Roots and norms: sums of squares in long double neither overflow nor
// lose digits.

using Wide = long double;

LIBRARY double __nv_rsqrt(double A) { return 1 / __builtin_sqrt(A); }
LIBRARY float __nv_rsqrtf(float A) { return 1 / __builtin_sqrtf(A); }
LIBRARY float __nv_frsqrt_rn(float A) {
  return static_cast<float>(1 / __builtin_sqrt(static_cast<double>(A)));
}
LIBRARY double __nv_rcbrt(double A) {
  return static_cast<double>(1 / __builtin_cbrtl(A));
}
LIBRARY float __nv_rcbrtf(float A) {
  return static_cast<float>(1 / __builtin_cbrt(A));
}

#define NORM(Name, Type, Sum, ...)                                             \
  LIBRARY Type __nv_##Name(__VA_ARGS__) {                                      \
    return static_cast<Type>(__builtin_sqrtl(Sum));                            \
  }                                                                            \
  LIBRARY Type __nv_r##Name(__VA_ARGS__) {                                     \
    return static_cast<Type>(1 / __builtin_sqrtl(Sum));                        \
  }
#define SQUARE(A) (static_cast<Wide>(A) * (A))
NORM(norm3d, double, SQUARE(A) + SQUARE(B) + SQUARE(C), double A, double B,
     double C)
NORM(norm3df, float, SQUARE(A) + SQUARE(B) + SQUARE(C), float A, float B,
     float C)
NORM(norm4d, double, SQUARE(A) + SQUARE(B) + SQUARE(C) + SQUARE(D), double A,
     double B, double C, double D)
NORM(norm4df, float, SQUARE(A) + SQUARE(B) + SQUARE(C) + SQUARE(D), float A,
     float B, float C, float D)
LIBRARY double __nv_rhypot(double A, double B) {
  return static_cast<double>(1 / __builtin_sqrtl(SQUARE(A) + SQUARE(B)));
}
LIBRARY float __nv_rhypotf(float A, float B) {
  return static_cast<float>(1 / __builtin_sqrtl(SQUARE(A) + SQUARE(B)));
}

template <typename Type>
static inline __attribute__((always_inline)) Wide sumOfSquares(int32_t Count,
                                                               const Type *A) {
  Wide Sum = 0;
  for (int32_t I = 0; I < Count; ++I)
    Sum += SQUARE(A[I]);
  return Sum;
}
NORM(norm, double, sumOfSquares(Count, A), int32_t Count, const double *A)
NORM(normf, float, sumOfSquares(Count, A), int32_t Count, const float *A)

// --- Multiples of pi: reduced exactly, then one call on [-pi/4, pi/4].

template <bool Cosine>
static inline __attribute__((always_inline)) double ofPi(double A) {
  double Turn = A - 2 * __builtin_nearbyint(A * 0.5); // in [-1, 1], exact
  double Quarter = __builtin_nearbyint(Turn * 2);
  double Rest = (Turn - Quarter * 0.5) * 3.14159265358979323846;
  int Quadrant = (static_cast<int>(Quarter) + (Cosine ? 1 : 0)) & 3;
  double Result = Quadrant & 1 ? __builtin_cos(Rest) : __builtin_sin(Rest);
  if (A != A || __builtin_isinf(A))
    return __builtin_nan("");
  if (!Cosine && Turn == __builtin_nearbyint(Turn))
    return __builtin_copysign(0.0, A);
  return Quadrant & 2 ? -Result : Result;
}
LIBRARY double __nv_sinpi(double A) { return ofPi<false>(A); }
LIBRARY double __nv_cospi(double A) { return ofPi<true>(A); }
LIBRARY float __nv_sinpif(float A) {
  return static_cast<float>(ofPi<false>(A));
}
LIBRARY float __nv_cospif(float A) { return static_cast<float>(ofPi<true>(A)); }
SINCOS(sincospi, double, ofPi<false>, ofPi<true>)
LIBRARY void __nv_sincospif(float A, float *S, float *C) {
  *S = __nv_sinpif(A);
  *C = __nv_cospif(A);
}

// --- Statistics and Bessel functions, by the engine.

#define BY_ENGINE(Name, Function)                                              \
  LIBRARY double __nv_##Name(double A) { return __r3_cpu_##Function(A); }      \
  LIBRARY float __nv_##Name##f(float A) {                                      \
    return static_cast<float>(__r3_cpu_##Function(A));                         \
  }
BY_ENGINE(erfinv, inverseErrorFunction)
BY_ENGINE(erfcinv, inverseComplementaryErrorFunction)
BY_ENGINE(erfcx, scaledComplementaryErrorFunction)
BY_ENGINE(normcdfinv, inverseNormalDistribution)
BY_ENGINE(cyl_bessel_i0, besselI0)
BY_ENGINE(cyl_bessel_i1, besselI1)
LIBRARY double __nv_normcdf(double A) {
  return static_cast<double>(
      0.5L * __builtin_erfcl(-A * 0.70710678118654752440084436210485L));
}
LIBRARY float __nv_normcdff(float A) {
  return static_cast<float>(0.5 * __builtin_erfc(-A * 0.70710678118654752440));
}
