// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of random rounding: operations that addRounding puts in
// place of the program's. Compiled without CUDA's headers and without fusing.
//
// Key: seed and place. An overflow is where it is to nearest, not where the
// coin wants it, and so is a zero, whose sign depends on the direction.
#include <stdint.h>

#define R3_DEVICE __attribute__((device))
#define OPERATION extern "C" R3_DEVICE

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

R3_DEVICE bool isUp(uint64_t Key, uint64_t Operands) {
  return mixed(Key ^ Operands) >> 63;
}

/// The same for both orders of A and B.
R3_DEVICE uint64_t pair(float A, float B) {
  return bits(A) + bits(B) + ((bits(A) ^ bits(B)) << 32);
}
R3_DEVICE uint64_t pair(double A, double B) {
  return mixed(bits(A)) + mixed(bits(B));
}

template <typename Real> R3_DEVICE bool isSettled(Real Nearest) {
  return Nearest == 0 || !__builtin_isfinite(Nearest);
}

template <typename Real> R3_DEVICE Real chosen(Real Nearest, Real Directed) {
  return __builtin_isfinite(Directed) ? Directed : Nearest;
}

} // namespace

#define ROUNDED(Result, Name, Parameters, Nearest, Operands, Down, Up)         \
  OPERATION Result __r3_round_##Name Parameters {                              \
    const Result Middle = Nearest;                                             \
    if (isSettled(Middle))                                                     \
      return Middle;                                                           \
    return chosen(Middle, isUp(Key, Operands) ? Up : Down);                    \
  }
#define ARITHMETIC(Suffix, Real, Fma, Sqrt)                                    \
  ROUNDED(Real, add_##Suffix, (Real A, Real B, uint64_t Key), A + B,           \
          pair(A, B), __nvvm_add_rm_##Suffix(A, B),                            \
          __nvvm_add_rp_##Suffix(A, B))                                        \
  ROUNDED(Real, sub_##Suffix, (Real A, Real B, uint64_t Key), A - B,           \
          pair(A, -B), __nvvm_add_rm_##Suffix(A, -B),                          \
          __nvvm_add_rp_##Suffix(A, -B))                                       \
  ROUNDED(Real, mul_##Suffix, (Real A, Real B, uint64_t Key), A *B,            \
          pair(A, B), __nvvm_mul_rm_##Suffix(A, B),                            \
          __nvvm_mul_rp_##Suffix(A, B))                                        \
  ROUNDED(Real, div_##Suffix, (Real A, Real B, uint64_t Key), A / B,           \
          mixed(bits(A)) ^ bits(B), __nvvm_div_rm_##Suffix(A, B),              \
          __nvvm_div_rp_##Suffix(A, B))                                        \
  ROUNDED(Real, rcp_##Suffix, (Real A, uint64_t Key), 1 / A, bits(A),          \
          __nvvm_rcp_rm_##Suffix(A), __nvvm_rcp_rp_##Suffix(A))                \
  ROUNDED(Real, sqrt_##Suffix, (Real A, uint64_t Key), Sqrt(A), bits(A),       \
          __nvvm_sqrt_rm_##Suffix(A), __nvvm_sqrt_rp_##Suffix(A))              \
  ROUNDED(Real, fma_##Suffix, (Real A, Real B, Real C, uint64_t Key),          \
          Fma(A, B, C), mixed(pair(A, B)) ^ bits(C),                           \
          __nvvm_fma_rm_##Suffix(A, B, C), __nvvm_fma_rp_##Suffix(A, B, C))
ARITHMETIC(f, float, __builtin_fmaf, __builtin_sqrtf)
ARITHMETIC(d, double, __builtin_fma, __builtin_sqrt)

#define CONVERSION(Name, From, To, Builtin)                                    \
  ROUNDED(To, Name, (From A, uint64_t Key), static_cast<To>(A),                \
          static_cast<uint64_t>(A), __nvvm_##Builtin##_rm(A),                  \
          __nvvm_##Builtin##_rp(A))
CONVERSION(i32_f, int32_t, float, i2f)
CONVERSION(u32_f, uint32_t, float, ui2f)
CONVERSION(i64_f, int64_t, float, ll2f)
CONVERSION(u64_f, uint64_t, float, ull2f)
CONVERSION(i64_d, int64_t, double, ll2d)
CONVERSION(u64_d, uint64_t, double, ull2d)
ROUNDED(float, narrow_f, (double A, uint64_t Key), static_cast<float>(A),
        bits(A), __nvvm_d2f_rm(A), __nvvm_d2f_rp(A))

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
  // Up and down in size; the sign bit stays.
  const Word Next = isUp(Key, Now) ? Now + 1 : Now - 1;
  return chosen(Value, __builtin_bit_cast(Real, Next));
}

} // namespace

OPERATION float __r3_round_moved_f(float Value, uint64_t Key) {
  return moved<float, uint32_t, 23>(Value, Key);
}
OPERATION double __r3_round_moved_d(double Value, uint64_t Key) {
  return moved<double, uint64_t, 52>(Value, Key);
}
