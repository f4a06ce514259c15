// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Other numbers for a launch that was recorded: the words of a buffer that are
// read only as floating point are mapped x -> x (1 + d(x)), with 2^-13 <= |d|
// <= 2^-5 and one sign for a buffer. What a kernel may rely on stays: which
// numbers are equal (by themselves and up to the sign), their order, their
// signs, zeros, and marks, which are
//   - NaN, infinity, denormal numbers (they may be integers) and the largest
//     number of the type;
//   - the only number of its sign, where there are several of the other one
//     (-1 for "none");
//   - the largest magnitude, where it is more than 1,024 times the next (1e30
//     for "nothing found").
//
// How: positive numbers are ordered as their bits are as integers. A step is
// added to the bits of the magnitude that never falls from the least to the
// largest magnitude of the buffer: so the map is strictly increasing whatever
// the numbers in between, in one pass and with a table of 4,096 entries. The
// table's rise is drawn anew for each buffer, so that ratios and differences of
// numbers change, too.
#pragma once

#include "runtime/support/Recording.h"

#include <array>
#include <cstdint>
#include <random>
#include <span>

namespace r3::trust {

/// What the numbers of one type in a buffer are like.
class NumberCensus {
public:
  /// F32 or F64.
  explicit NumberCensus(ValueType Type) : Type(Type) {}
  /// All numbers in Bytes.
  void add(std::span<const uint8_t> Bytes);

private:
  friend class Perturbation;
  /// Two different ones are enough to know.
  struct OneSign {
    uint64_t First = 0;
    unsigned Different = 0; // 0, 1, or 2 for more
  };
  void addNumber(uint64_t Bits);

  ValueType Type;
  uint64_t Least = UINT64_MAX, Largest = 0, Second = 0; // magnitudes
  std::array<OneSign, 2> Signs;
};

class Perturbation {
public:
  Perturbation(const NumberCensus &Numbers, std::mt19937_64 &Random);
  /// Maps all numbers in Bytes; how many became other ones.
  uint64_t apply(std::span<uint8_t> Bytes) const;
  /// No number changes.
  bool empty() const { return Largest < Least; }

private:
  static constexpr unsigned Knots = 4096;
  uint64_t mapped(uint64_t Bits) const;
  uint64_t stepOf(uint64_t Magnitude) const;

  ValueType Type;
  bool Down = false;
  int MarkedSign = -1; // numbers of this sign stay
  // Magnitudes of this stretch change.
  uint64_t Least = 1, Largest = 0;
  unsigned Shift = 0; // from a distance to Least to an entry
  std::array<uint64_t, Knots + 1> Steps{};
};

/// Whether a float or double buffer holds NaN or infinity in Now where Recorded
/// has a number; false for other types.
bool hasNewNonNumber(std::span<const uint8_t> Recorded,
                     std::span<const uint8_t> Now, ValueType Type);

} // namespace r3::trust
