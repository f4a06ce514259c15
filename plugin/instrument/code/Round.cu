// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of random rounding: operations that addRounding puts in
// place of the program's. Compiled without CUDA's headers and without fusing.
//
// Each rounds to nearest, computes what that has lost (its residual) by
// error-free transformations (TwoSum; D. E. Knuth, TAOCP 4.2.2) and takes the
// neighbour on the residual's side with the probability residual / gap: so the
// mean over seeds is the exact result, and an exact result stays.
//
// Key: seed and place. Zeros and overflows are where they are to nearest.
#include <stdint.h>

#define R3_DEVICE __attribute__((device))
// A call for each operation: inlined, they are several times the program.
#define OPERATION extern "C" R3_DEVICE __attribute__((noinline))

extern "C" R3_DEVICE uint64_t __r3_round_seed;
uint64_t __r3_round_seed;

namespace {

R3_DEVICE uint64_t bits(float Value) {
  return __builtin_bit_cast(uint32_t, Value);
}
R3_DEVICE uint64_t bits(double Value) {
  return __builtin_bit_cast(uint64_t, Value);
}

R3_DEVICE uint64_t mixed(uint64_t Hash) {
  Hash *= 0xff51afd7ed558ccdull;
  Hash ^= Hash >> 32;
  return Hash * 0xc4ceb9fe1a85ec53ull;
}

/// The same for both orders of A and B.
R3_DEVICE uint64_t pair(float A, float B) {
  return bits(A) + bits(B) + ((bits(A) ^ bits(B)) << 32);
}
R3_DEVICE uint64_t pair(double A, double B) {
  return mixed(bits(A)) + mixed(bits(B));
}

template <typename Real> R3_DEVICE bool isSettled(Real Value) {
  return Value == 0 || !__builtin_isfinite(Value);
}

/// Steps numbers away from zero.
R3_DEVICE float stepped(float Value, int32_t Steps) {
  return __builtin_bit_cast(float, __builtin_bit_cast(int32_t, Value) + Steps);
}
R3_DEVICE double stepped(double Value, int32_t Steps) {
  return __builtin_bit_cast(double, __builtin_bit_cast(int64_t, Value) + Steps);
}

/// Nearest, or the number behind the exact result. Residual: the exact result
/// less Nearest, times Unit, which is positive. No jump depends on the draw: it
/// would be mispredicted.
template <typename Real>
R3_DEVICE Real rounded(Real Nearest, double Residual, double Unit,
                       uint64_t Hash) {
  if (isSettled(Nearest))
    return Nearest;
  const int32_t Step = (Residual < 0) == (Nearest < 0) ? 1 : -1;
  const double Next = stepped(Nearest, Step);
  const double Gap = __builtin_fabs(Next - Nearest) * Unit;
  const double Lost = __builtin_fabs(Residual);
  const double Draw =
      static_cast<double>(static_cast<int64_t>(mixed(Hash) >> 1)) * 0x1p-63;
  // Never over an infinite gap, nor where the residual is no number.
  return stepped(Nearest, (Draw * Gap < Lost) * Step);
}

/// What operands of small results are multiplied by, so that no residual is
/// less than the least number: cancelling operands of such a result are below
/// 2^75 (float) or 2^170 (double).
R3_DEVICE float scale(float Result) {
  return __builtin_fabsf(Result) < 0x1p-100f ? 0x1p50f : 1;
}
R3_DEVICE double scale(double Result) {
  return __builtin_fabs(Result) < 0x1p-960 ? 0x1p480 : 1;
}

// rn: whoever generates code may fuse a product with the sum behind it.
R3_DEVICE float multiplied(float A, float B) { return __nvvm_mul_rn_f(A, B); }
R3_DEVICE double multiplied(double A, double B) {
  return __nvvm_mul_rn_d(A, B);
}
R3_DEVICE float fused(float A, float B, float C) {
  return __builtin_fmaf(A, B, C);
}
R3_DEVICE double fused(double A, double B, double C) {
  return __builtin_fma(A, B, C);
}
R3_DEVICE float root(float A) { return __builtin_sqrtf(A); }
R3_DEVICE double root(double A) { return __builtin_sqrt(A); }

/// TwoSum: A + B - Sum.
template <typename Real> R3_DEVICE Real lost(Real A, Real B, Real Sum) {
  const Real OfB = Sum - A;
  return (A - (Sum - OfB)) + (B - OfB);
}

template <typename Real> R3_DEVICE Real sum(Real A, Real B, uint64_t Key) {
  const Real Nearest = A + B;
  const double Up = scale(Nearest);
  return rounded(Nearest, lost(A, B, Nearest) * Up * Up, Up * Up,
                 Key ^ pair(A, B));
}

template <typename Real> R3_DEVICE Real product(Real A, Real B, uint64_t Key) {
  const Real Nearest = A * B;
  const Real Up = scale(Nearest);
  return rounded(Nearest, fused(A * Up, B * Up, -Nearest * Up * Up), Up * Up,
                 Key ^ pair(A, B));
}

template <typename Real>
R3_DEVICE Real quotient(Real A, Real B, uint64_t Hash) {
  const Real Nearest = A / B;
  const Real Up = scale(A), Divisor = B * Up;
  const Real Residual = fused(-Nearest, Divisor, A * Up);
  return rounded(Nearest, B < 0 ? -Residual : Residual,
                 B < 0 ? -Divisor : Divisor, Hash);
}

template <typename Real> R3_DEVICE Real squareRoot(Real A, uint64_t Hash) {
  const Real Nearest = root(A);
  const Real Up = scale(A), Root = Nearest * Up;
  return rounded(Nearest, fused(-Root, Root, A * Up * Up), 2 * Root * Up, Hash);
}

template <typename Real>
R3_DEVICE Real productSum(Real A, Real B, Real C, uint64_t Key) {
  const Real Nearest = fused(A, B, C);
  const Real Up = scale(Nearest), X = A * Up, Y = B * Up, Z = C * Up * Up;
  const Real Product = multiplied(X, Y), Sum = Product + Z;
  const Real Residual = (Sum - Nearest * Up * Up) +
                        (lost(Product, Z, Sum) + fused(X, Y, -Product));
  return rounded(Nearest, Residual, Up * Up, Key ^ mixed(pair(A, B)) ^ bits(C));
}

/// Both halves of an integer, and what is lost of it, are exact in double.
template <typename Real, typename Integer>
R3_DEVICE Real converted(Integer A, uint64_t Key) {
  constexpr Integer Low = static_cast<Integer>(0xffffffffu);
  const Real Nearest = static_cast<Real>(A);
  const double Residual =
      (static_cast<double>(A & ~Low) - Nearest) + static_cast<double>(A & Low);
  return rounded(Nearest, Residual, 1, Key ^ static_cast<uint64_t>(A));
}

} // namespace

#define ARITHMETIC(Suffix, Real)                                               \
  OPERATION Real __r3_round_add_##Suffix(Real A, Real B, uint64_t Key) {       \
    return sum(A, B, Key);                                                     \
  }                                                                            \
  OPERATION Real __r3_round_sub_##Suffix(Real A, Real B, uint64_t Key) {       \
    return sum(A, -B, Key);                                                    \
  }                                                                            \
  OPERATION Real __r3_round_mul_##Suffix(Real A, Real B, uint64_t Key) {       \
    return product(A, B, Key);                                                 \
  }                                                                            \
  OPERATION Real __r3_round_div_##Suffix(Real A, Real B, uint64_t Key) {       \
    return quotient(A, B, Key ^ mixed(bits(A)) ^ bits(B));                     \
  }                                                                            \
  OPERATION Real __r3_round_rcp_##Suffix(Real A, uint64_t Key) {               \
    return quotient(Real(1), A, Key ^ bits(A));                                \
  }                                                                            \
  OPERATION Real __r3_round_sqrt_##Suffix(Real A, uint64_t Key) {              \
    return squareRoot(A, Key ^ bits(A));                                       \
  }                                                                            \
  OPERATION Real __r3_round_fma_##Suffix(Real A, Real B, Real C,               \
                                         uint64_t Key) {                       \
    return productSum(A, B, C, Key);                                           \
  }
ARITHMETIC(f, float)
ARITHMETIC(d, double)

#define CONVERSION(Name, From, To)                                             \
  OPERATION To __r3_round_##Name(From A, uint64_t Key) {                       \
    return converted<To>(A, Key);                                              \
  }
CONVERSION(i32_f, int32_t, float)
CONVERSION(u32_f, uint32_t, float)
CONVERSION(i64_f, int64_t, float)
CONVERSION(u64_f, uint64_t, float)
CONVERSION(i64_d, int64_t, double)
CONVERSION(u64_d, uint64_t, double)
OPERATION float __r3_round_narrow_f(double A, uint64_t Key) {
  const float Nearest = static_cast<float>(A);
  return rounded(Nearest, A - Nearest, 1, Key ^ bits(A));
}

namespace {

/// One unit in the last place down or up. Results that are integers or powers
/// of two are taken for exact; among large numbers, which are all integers,
/// only the latter.
template <typename Real, typename Word, unsigned MantissaBits>
R3_DEVICE Real moved(Real Value, uint64_t Key) {
  constexpr Real Dense = static_cast<Real>(Word(1) << MantissaBits);
  constexpr Word Mantissa = (Word(1) << MantissaBits) - 1;
  const Word Now = __builtin_bit_cast(Word, Value);
  const Real Size = Value < 0 ? -Value : Value;
  if (isSettled(Value) || !(Now & Mantissa) ||
      (Size < Dense && static_cast<Real>(static_cast<int64_t>(Size)) == Size))
    return Value;
  const Real Next = stepped(Value, mixed(Key ^ Now) >> 63 ? 1 : -1);
  return __builtin_isfinite(Next) ? Next : Value;
}

} // namespace

OPERATION float __r3_round_moved_f(float Value, uint64_t Key) {
  return moved<float, uint32_t, 23>(Value, Key);
}
OPERATION double __r3_round_moved_d(double Value, uint64_t Key) {
  return moved<double, uint64_t, 52>(Value, Key);
}
