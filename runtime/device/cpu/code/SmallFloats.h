// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point formats of 16 and 8 bits. Their values are kept as bits; what
// is computed of them is a double, which is rounded once. Where a double
// cannot hold a result, its last bit is made odd (rounding to odd: Boldo and
// Melquiond, "Emulation of FMA and correctly rounded sums", 2008), so that
// rounding it again gives what rounding the exact result would.
#pragma once

#include "Library.h"

#define INLINE static inline __attribute__((always_inline))

/// Digits behind the point, exponent of the smallest normal number, and the
/// bits of the largest finite one.
struct Format_f16 {
  static constexpr int Digits = 10, Smallest = -14;
  static constexpr uint32_t Largest = 0x7bff;
};
struct Format_bf16 {
  static constexpr int Digits = 7, Smallest = -126;
  static constexpr uint32_t Largest = 0x7f7f;
};
struct Format_e4m3 {
  static constexpr int Digits = 3, Smallest = -6;
  static constexpr uint32_t Largest = 0x7e;
};
struct Format_e5m2 {
  static constexpr int Digits = 2, Smallest = -14;
  static constexpr uint32_t Largest = 0x7b;
};

/// The bits of |Value|, which is a number or infinity, rounded in the direction
/// that Mode has for Value's sign; above Largest where it is too large.
template <typename Format>
INLINE uint32_t magnitude(double Value, RoundingMode Mode) {
  uint64_t Bits = __builtin_bit_cast(uint64_t, Value);
  bool IsNegative = Bits >> 63;
  int Field = static_cast<int>(Bits >> 52 & 2047), Exponent = Field - 1023;
  uint64_t Significand =
      (Bits & ((1ull << 52) - 1)) | static_cast<uint64_t>(Field != 0) << 52;
  int Kept = Exponent < Format::Smallest ? Format::Smallest : Exponent;
  int Lost = 52 - Format::Digits + Kept - Exponent;
  Lost = Lost > 63 ? 63 : Lost;
  uint64_t Units = Significand >> Lost;
  uint64_t Rest = Significand & ((1ull << Lost) - 1), Half = 1ull << (Lost - 1);
  bool IsUp = Mode == RoundNearest  ? Rest > Half || (Rest == Half && Units & 1)
              : Mode == RoundToZero ? false
                                    : Rest && IsNegative == (Mode == RoundDown);
  return static_cast<uint32_t>(Units + IsUp) +
         (static_cast<uint32_t>(Kept - Format::Smallest) << Format::Digits);
}

/// The 16 bits of Value; every NaN is the GPU's.
template <typename Format>
INLINE uint16_t rounded(double Value, RoundingMode Mode) {
  if (Value != Value)
    return 0x7fff;
  bool IsNegative = __builtin_bit_cast(uint64_t, Value) >> 63;
  uint32_t Bits = magnitude<Format>(Value, Mode);
  if (Bits > Format::Largest) {
    bool IsCut =
        Value - Value == 0 &&
        (Mode == RoundToZero || Mode == (IsNegative ? RoundUp : RoundDown));
    Bits = Format::Largest + !IsCut;
  }
  return static_cast<uint16_t>(Bits | static_cast<uint32_t>(IsNegative) << 15);
}
INLINE uint16_t bitsOf_f16(double Value, RoundingMode Mode = RoundNearest) {
  return rounded<Format_f16>(Value, Mode);
}
INLINE uint16_t bitsOf_bf16(double Value, RoundingMode Mode = RoundNearest) {
  return rounded<Format_bf16>(Value, Mode);
}

/// The 8 bits of Value, to the nearest; what is too large is the largest.
template <typename Format> INLINE uint8_t roundedByte(double Value) {
  if (Value != Value)
    return 0x7f;
  uint32_t Bits = magnitude<Format>(Value, RoundNearest);
  Bits = Bits < Format::Largest ? Bits : Format::Largest;
  bool IsNegative = __builtin_bit_cast(uint64_t, Value) >> 63;
  return static_cast<uint8_t>(Bits | static_cast<uint32_t>(IsNegative) << 7);
}

INLINE float valueOf_f16(uint16_t Bits) {
  return __builtin_bit_cast(_Float16, Bits);
}
INLINE float valueOf_bf16(uint16_t Bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(Bits) << 16);
}

// --- Rounding to odd.

/// A + B, of which Sum is the nearest double; the error is exact (Knuth).
INLINE double oddSum(double A, double B) {
  double Sum = A + B, Back = Sum - A;
  double Error = (A - (Sum - Back)) + (B - Back);
  uint64_t Bits = __builtin_bit_cast(uint64_t, Sum);
  if ((Error < 0 || Error > 0) && !(Bits & 1))
    Bits += (Error > 0) == (Sum > 0) ? 1 : -1;
  return __builtin_bit_cast(double, Bits);
}
INLINE double oddDouble(uint64_t Value) {
  if (Value >> 53)
    Value = (Value & ~2047ull) | (Value & 2047 ? 2048 : 0);
  return static_cast<double>(Value);
}
INLINE double oddDouble(int64_t Value) {
  return Value < 0 ? -oddDouble(0 - static_cast<uint64_t>(Value))
                   : oddDouble(static_cast<uint64_t>(Value));
}

// --- Pairs.

INLINE uint32_t pair(uint16_t Low, uint16_t High) {
  return Low | static_cast<uint32_t>(High) << 16;
}
INLINE uint16_t low(uint32_t Pair) { return static_cast<uint16_t>(Pair); }
INLINE uint16_t high(uint32_t Pair) {
  return static_cast<uint16_t>(Pair >> 16);
}
