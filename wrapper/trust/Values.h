// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of a buffer by type: size, value, comparison by bits, text.
#pragma once

#include "runtime/support/Recording.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

namespace r3::trust {

/// Buffers have no alignment to rely on; what is missing at their end is zero.
template <typename T> T loadAt(std::span<const uint8_t> Bytes, size_t Offset) {
  T Value{};
  if (Offset < Bytes.size())
    std::memcpy(&Value, Bytes.data() + Offset,
                std::min(sizeof(T), Bytes.size() - Offset));
  return Value;
}

/// Bytes of one element; 1 for Bytes.
size_t elementSize(ValueType Type);
/// Float and double: the only types with a tolerance.
bool hasTolerance(ValueType Type);
/// The element at byte Offset of Bytes as a number; F32 and F64 only.
inline double valueAt(std::span<const uint8_t> Bytes, size_t Offset,
                      ValueType Type) {
  return Type == ValueType::F32 ? double(loadAt<float>(Bytes, Offset))
                                : loadAt<double>(Bytes, Offset);
}
/// NaN, infinity, or not zero and denormal: compared by bits only.
bool comparesByBits(double Value, ValueType Type);
/// Both the same of NaN, +infinity, -infinity, finite; a NaN's payload and sign
/// do not count.
bool sameClass(double A, double B);
/// The binary exponent, at least the smallest normal number's; F32, F64.
int exponentOf(double Value, ValueType Type);
/// The distance of numbers of this exponent.
double ulpOf(int Exponent, ValueType Type);
/// Text of one element for a message ("1.5", "-3", "0x7f").
std::string textAt(std::span<const uint8_t> Bytes, size_t Offset,
                   ValueType Type);

} // namespace r3::trust
