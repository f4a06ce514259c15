// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a sketch (Sketch.h) is made of, constexpr throughout, hence compiled for
// the host and for the device (Kernels.cu) from the same text: both come to the
// same bits.
#pragma once

#include <stdint.h>

namespace r3 {

/// 64 signed sums of the numbers of a chunk, and a digest of what is no number.
struct Sketch {
  double Sums[64];
  uint64_t Odd;
};

namespace sketch {

/// Elements of a group, and sums.
inline constexpr unsigned Width = 64;

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable
/// pseudorandom number generators, OOPSLA 2014).
constexpr uint64_t mix(uint64_t Value) {
  Value = (Value ^ Value >> 30) * 0xbf58476d1ce4e5b9ull;
  Value = (Value ^ Value >> 27) * 0x94d049bb133111ebull;
  return Value ^ Value >> 31;
}

/// The Index-th number of the generator that begins at Seed.
constexpr uint64_t draw(uint64_t Seed, uint64_t Index) {
  return mix(Seed + (Index + 1) * 0x9e3779b97f4a7c15ull);
}

/// Bit I is the sign of a group's element I, before the transform.
constexpr uint64_t elementSigns(uint64_t Seed, uint64_t Group) {
  return draw(Seed, 2 * Group);
}
/// Bit K is the sign with which the group goes into sum K.
constexpr uint64_t sumSigns(uint64_t Seed, uint64_t Group) {
  return draw(Seed, 2 * Group + 1);
}

constexpr double withSign(double Value, uint64_t Signs, unsigned I) {
  const uint64_t Bits = __builtin_bit_cast(uint64_t, Value);
  return __builtin_bit_cast(double, Bits ^ (Signs >> I & 1) << 63);
}

/// NaN, infinity, and what is so large (2^960) that sums could overflow.
constexpr bool isOdd(double Value) {
  const uint64_t Bits = __builtin_bit_cast(uint64_t, Value);
  return (Bits >> 52 & 0x7ff) >= 1023 + 960;
}

/// Of an odd value and its place; all NaNs are alike.
constexpr uint64_t oddMark(uint64_t Seed, uint64_t Element, double Value) {
  const uint64_t Bits = Value == Value ? __builtin_bit_cast(uint64_t, Value)
                                       : 0x7ff8000000000000ull;
  return mix(draw(Seed, Element) ^ Bits);
}

/// A sum with what its additions have lost (Kahan, CACM 8, 1965).
struct Sum {
  double Value = 0, Lost = 0;
  constexpr void add(double Term) {
    const double Whole = Term - Lost, Next = Value + Whole;
    Lost = (Next - Value) - Whole;
    Value = Next;
  }
};

} // namespace sketch
} // namespace r3
