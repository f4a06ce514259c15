// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Values.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>

namespace r3::trust {

size_t elementSize(ValueType Type) {
  switch (Type) {
  case ValueType::Bytes:
  case ValueType::I8:
    return 1;
  case ValueType::I16:
  case ValueType::F16:
  case ValueType::BF16:
    return 2;
  case ValueType::I32:
  case ValueType::F32:
    return 4;
  case ValueType::I64:
  case ValueType::F64:
  case ValueType::Pointer:
    return 8;
  }
  return 1;
}

bool hasTolerance(ValueType Type) {
  return Type == ValueType::F32 || Type == ValueType::F64;
}

bool comparesByBits(double Value, ValueType Type) {
  if (!std::isfinite(Value))
    return true;
  const double Smallest = Type == ValueType::F32 ? FLT_MIN : DBL_MIN;
  return Value != 0 && std::fabs(Value) < Smallest;
}

bool sameClass(double A, double B) {
  if (std::isnan(A) || std::isnan(B))
    return std::isnan(A) && std::isnan(B);
  if (std::isinf(A) || std::isinf(B))
    return A == B;
  return true;
}

int exponentOf(double Value, ValueType Type) {
  const int Least = (Type == ValueType::F32 ? FLT_MIN_EXP : DBL_MIN_EXP) - 1;
  return Value == 0 ? Least : std::max(std::ilogb(Value), Least);
}

double ulpOf(int Exponent, ValueType Type) {
  const int Digits = Type == ValueType::F32 ? FLT_MANT_DIG : DBL_MANT_DIG;
  return std::ldexp(1.0, Exponent - Digits + 1);
}

std::string textAt(std::span<const uint8_t> Bytes, size_t Offset,
                   ValueType Type) {
  switch (Type) {
  case ValueType::F32:
    return format("%.9g", double(loadAt<float>(Bytes, Offset)));
  case ValueType::F64:
    return format("%.17g", loadAt<double>(Bytes, Offset));
  case ValueType::I8:
    return format("%d", loadAt<int8_t>(Bytes, Offset));
  case ValueType::I16:
    return format("%d", loadAt<int16_t>(Bytes, Offset));
  case ValueType::I32:
    return format("%d", loadAt<int32_t>(Bytes, Offset));
  case ValueType::I64:
    return format("%lld",
                  static_cast<long long>(loadAt<int64_t>(Bytes, Offset)));
  case ValueType::F16:
  case ValueType::BF16:
    return format("0x%04x", loadAt<uint16_t>(Bytes, Offset));
  case ValueType::Pointer:
    return format("0x%llx", static_cast<unsigned long long>(
                                loadAt<uint64_t>(Bytes, Offset)));
  case ValueType::Bytes:
    break;
  }
  return format("0x%02x", loadAt<uint8_t>(Bytes, Offset));
}

} // namespace r3::trust
