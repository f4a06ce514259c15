// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The argument class of a launch: what an optimiser could have relied on, in
// steps coarse enough that a program's launches fall into few classes.
#include "runtime/support/Recording.h"

#include <bit>
#include <cstring>
#include <map>

namespace r3 {

/// The largest power of two up to Limit that divides Value.
static uint64_t divisor(uint64_t Value, uint64_t Limit) {
  uint64_t Divisor = Value & -Value;
  return Divisor == 0 || Divisor > Limit ? Limit : Divisor;
}

/// "2^20/64", "-2^3/8", "0".
static std::string bucket(uint64_t Magnitude, bool Negative) {
  if (!Magnitude)
    return "0";
  return format("%s2^%d/%llu", Negative ? "-" : "",
                int(std::bit_width(Magnitude)) - 1,
                (unsigned long long)divisor(Magnitude, 128));
}

static std::string launchClass(const LaunchConfig &Launch) {
  std::string Text =
      format("block=%u,%u,%u shared=%u", Launch.Block[0], Launch.Block[1],
             Launch.Block[2], Launch.DynamicShared);
  if (Launch.Cooperative)
    Text += " cooperative";
  if (Launch.Cluster[0])
    Text += format(" cluster=%u,%u,%u", Launch.Cluster[0], Launch.Cluster[1],
                   Launch.Cluster[2]);
  return Text + " grid=" + bucket(Launch.Grid[0], false) + "," +
         bucket(Launch.Grid[1], false) + "," + bucket(Launch.Grid[2], false);
}

/// A floating value from its bits: the exponent of all ones is infinity or
/// not a number.
static const char *floatClass(uint64_t Bits, unsigned Exponent,
                              unsigned Mantissa) {
  uint64_t Magnitude = Bits & ((1ull << (Exponent + Mantissa)) - 1);
  uint64_t Ones = (1ull << Exponent) - 1;
  if (!Magnitude)
    return "zero";
  return Magnitude >> Mantissa == Ones ? "notfinite" : "finite";
}

static std::string integerClass(uint64_t Bits, unsigned Size) {
  unsigned Shift = 64 - 8 * Size;
  int64_t Value = int64_t(Bits << Shift) >> Shift;
  // Unsigned negation: the smallest integer has no positive partner.
  return bucket(Value < 0 ? -uint64_t(Value) : uint64_t(Value), Value < 0);
}

/// Text of one field; empty where it says nothing (bytes).
static std::string fieldClass(const ArgumentField &Field, uint64_t Bits,
                              std::map<uint64_t, std::string> &Pointers) {
  switch (Field.Type) {
  case ValueType::Bytes:
    return {};
  case ValueType::I8:
  case ValueType::I16:
  case ValueType::I32:
  case ValueType::I64:
    return integerClass(Bits, Field.Size);
  case ValueType::F16:
    return floatClass(Bits, 5, 10);
  case ValueType::BF16:
    return floatClass(Bits, 8, 7);
  case ValueType::F32:
    return floatClass(Bits, 8, 23);
  case ValueType::F64:
    return floatClass(Bits, 11, 52);
  case ValueType::Pointer:
    break;
  }
  if (!Bits)
    return "null";
  auto [First, Inserted] = Pointers.emplace(Bits, Field.Name);
  std::string Text = format("@%llu", (unsigned long long)divisor(Bits, 256));
  return Inserted ? Text : Text + "=" + First->second;
}

std::string argumentClass(const LaunchConfig &Launch,
                          std::span<const uint8_t> Arguments,
                          std::span<const ArgumentField> Fields) {
  std::string Text = launchClass(Launch);
  std::map<uint64_t, std::string> Pointers;
  for (const ArgumentField &Field : Fields) {
    // An array of scalars in a struct is one field: it says nothing.
    if (!Field.Size || Field.Size > 8 || Field.Offset > Arguments.size() ||
        Field.Size > Arguments.size() - Field.Offset)
      continue;
    uint64_t Bits = 0;
    std::memcpy(&Bits, Arguments.data() + Field.Offset, Field.Size);
    std::string Value = fieldClass(Field, Bits, Pointers);
    if (!Value.empty())
      Text += " " + Field.Name + "=" + Value;
  }
  return Text;
}

} // namespace r3
