// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic in other rounding modes, by switching the processor's, and the
// functions of libdevice that libm lacks. Compiled with -frounding-math; the
// volatile operands keep operations between the switches.
#include "runtime/device/cpu/RuntimeCalls.h"

#include <cmath>
#include <xmmintrin.h>

namespace r3::cpu {

namespace {

/// Sets a rounding mode while it lives: of the vector unit, which does all
/// arithmetic of float and double.
class Rounding {
public:
  explicit Rounding(uint32_t Mode) : Old(_mm_getcsr()) {
    constexpr uint32_t Mask = 3u << 13;
    _mm_setcsr((Old & ~Mask) | (Mode & 3) << 13);
  }
  ~Rounding() { _mm_setcsr(Old); }

private:
  uint32_t Old;
};

template <typename Type>
[[gnu::noinline]] Type compute(uint32_t Operation, Type A, Type B, Type C) {
  volatile Type X = A, Y = B, Z = C, Result = 0;
  switch (Operation) {
  case RoundedAdd:
    Result = X + Y;
    break;
  case RoundedMultiply:
    Result = X * Y;
    break;
  case RoundedDivide:
    Result = X / Y;
    break;
  case RoundedSquareRoot:
    Result = std::sqrt(static_cast<Type>(X));
    break;
  case RoundedMultiplyAdd:
    Result = std::fma(static_cast<Type>(X), static_cast<Type>(Y),
                      static_cast<Type>(Z));
    break;
  }
  return Result;
}

template <typename To, typename From>
[[gnu::noinline]] To converted(uint32_t Mode, From Value) {
  Rounding Switched(Mode);
  volatile From X = Value;
  volatile To Result = static_cast<To>(X);
  return Result;
}

constexpr double TwoByRootPi = 1.12837916709551257390;

/// x with erfc(x) = q for 0 < q <= 0.5: Newton on the logarithm, which
/// converges from the asymptotic start on the whole range.
double inverseComplement(double Q) {
  double LogQ = std::log(Q);
  double X = std::sqrt(-LogQ);
  if (Q < 0.1)
    X -= std::log(X * 1.7724538509055160) / (2 * X);
  for (int I = 0; I < 12; ++I) {
    double F = std::erfc(X);
    if (F <= 0) {
      X *= 0.99;
      continue;
    }
    double Step = (std::log(F) - LogQ) * F / (TwoByRootPi * std::exp(-X * X));
    X += Step;
    if (std::fabs(Step) < 1e-16 * X)
      break;
  }
  return X;
}

/// x with erf(x) = y for |y| <= 0.5.
double inverseCentral(double Y) {
  double X = Y / TwoByRootPi;
  for (int I = 0; I < 8; ++I) {
    double Step = (std::erf(X) - Y) / (TwoByRootPi * std::exp(-X * X));
    X -= Step;
    if (std::fabs(Step) <= 1e-17 * std::fabs(X))
      break;
  }
  return X;
}

/// Modified Bessel function of order 0 or 1: the power series, whose terms
/// are all positive, or far out the asymptotic one.
double bessel(int Order, double Value) {
  long double X = std::fabs(static_cast<long double>(Value));
  long double Sum = 0;
  if (X < 40) {
    long double Term = Order ? X / 2 : 1;
    long double Square = X * X / 4;
    for (int K = 1; Sum + Term != Sum && K < 500; ++K) {
      Sum += Term;
      Term *= Square / (static_cast<long double>(K) * (K + Order));
    }
  } else {
    long double Term = 1;
    for (int K = 1; Sum + Term != Sum && K < 100; ++K) {
      Sum += Term;
      long double Odd = 2 * K - 1;
      Term *= -(4 * Order - Odd * Odd) / (8 * X * K);
    }
    Sum *= std::exp(X) / std::sqrt(2 * 3.14159265358979323846264338L * X);
  }
  return static_cast<double>(Order && Value < 0 ? -Sum : Sum);
}

} // namespace

extern "C" {

float __r3_cpu_roundedFloat(uint32_t Operation, uint32_t Mode, float A, float B,
                            float C) {
  Rounding Switched(Mode);
  return compute<float>(Operation, A, B, C);
}
double __r3_cpu_roundedDouble(uint32_t Operation, uint32_t Mode, double A,
                              double B, double C) {
  Rounding Switched(Mode);
  return compute<double>(Operation, A, B, C);
}
float __r3_cpu_roundedToFloat(uint32_t Mode, double Value) {
  return converted<float>(Mode, Value);
}
float __r3_cpu_roundedSignedToFloat(uint32_t Mode, int64_t Value) {
  return converted<float>(Mode, Value);
}
float __r3_cpu_roundedUnsignedToFloat(uint32_t Mode, uint64_t Value) {
  // There is no instruction for this without AVX-512: the compiler's sequence
  // rounds twice. Values below 2^63 go the signed way; for others the lowest
  // bit keeps what is shifted out.
  if (Value >> 63 == 0)
    return converted<float>(Mode, static_cast<int64_t>(Value));
  int64_t Half = static_cast<int64_t>(Value >> 1 | (Value & 1));
  return 2 * converted<float>(Mode, Half);
}
double __r3_cpu_roundedSignedToDouble(uint32_t Mode, int64_t Value) {
  return converted<double>(Mode, Value);
}
double __r3_cpu_roundedUnsignedToDouble(uint32_t Mode, uint64_t Value) {
  if (Value >> 63 == 0)
    return converted<double>(Mode, static_cast<int64_t>(Value));
  int64_t Half = static_cast<int64_t>(Value >> 1 | (Value & 1));
  return 2 * converted<double>(Mode, Half);
}

double __r3_cpu_inverseErrorFunction(double Y) {
  double Size = std::fabs(Y);
  if (!(Size <= 1))
    return NAN;
  if (Size == 1)
    return std::copysign(INFINITY, Y);
  if (Size <= 0.5)
    return inverseCentral(Y);
  return std::copysign(inverseComplement(1 - Size), Y);
}

double __r3_cpu_inverseComplementaryErrorFunction(double Q) {
  if (!(Q >= 0 && Q <= 2))
    return NAN;
  if (Q == 0)
    return INFINITY;
  if (Q == 2)
    return -INFINITY;
  if (Q < 0.5)
    return inverseComplement(Q);
  if (Q > 1.5)
    return -inverseComplement(2 - Q);
  return inverseCentral(1 - Q);
}

double __r3_cpu_scaledComplementaryErrorFunction(double X) {
  long double Wide = X;
  if (X > 100) // erfc underflows; the first terms are exact to a double
    return static_cast<double>((1 - 1 / (2 * Wide * Wide)) /
                               (Wide * 1.77245385090551602729816748L));
  return static_cast<double>(std::exp(Wide * Wide) * std::erfc(Wide));
}

double __r3_cpu_inverseNormalDistribution(double P) {
  return -1.41421356237309504880 *
         __r3_cpu_inverseComplementaryErrorFunction(2 * P);
}

double __r3_cpu_besselI0(double X) { return bessel(0, X); }
double __r3_cpu_besselI1(double X) { return bessel(1, X); }

} // extern "C"

} // namespace r3::cpu
