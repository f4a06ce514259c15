// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Perturb.h"

#include "wrapper/trust/Values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace r3::trust {

namespace {

/// Of an IEEE type as bits.
struct Layout {
  unsigned Bits, Mantissa;
  uint64_t sign() const { return 1ull << (Bits - 1); }
  uint64_t infinity() const { return (sign() - 1) >> Mantissa << Mantissa; }
  uint64_t leastNormal() const { return 1ull << Mantissa; }
  /// Marks by themselves: 0, denormal, the largest, infinity, NaN.
  bool isMark(uint64_t Magnitude) const {
    return Magnitude < leastNormal() || Magnitude >= infinity() - 1;
  }
  uint64_t smallestStep() const { return leastNormal() >> 12; }
  uint64_t largestStep() const { return leastNormal() >> 6; }
};

Layout layoutOf(ValueType Type) {
  return Type == ValueType::F32 ? Layout{32, 23} : Layout{64, 52};
}

uint64_t load(const uint8_t *From, size_t Size) {
  uint64_t Bits = 0;
  std::memcpy(&Bits, From, Size); // little-endian, as the device
  return Bits;
}

} // namespace

void NumberCensus::add(std::span<const uint8_t> Bytes) {
  const size_t Size = elementSize(Type);
  for (size_t At = 0; At + Size <= Bytes.size(); At += Size)
    addNumber(load(Bytes.data() + At, Size));
}

void NumberCensus::addNumber(uint64_t Bits) {
  const Layout L = layoutOf(Type);
  const uint64_t Magnitude = Bits & ~L.sign();
  if (L.isMark(Magnitude))
    return;
  Least = std::min(Least, Magnitude);
  if (Magnitude > Largest)
    Second = std::exchange(Largest, Magnitude);
  else if (Magnitude != Largest)
    Second = std::max(Second, Magnitude);
  OneSign &Sign = Signs[(Bits & L.sign()) != 0];
  if (!Sign.Different)
    Sign.First = Magnitude;
  if (!Sign.Different || (Sign.Different == 1 && Sign.First != Magnitude))
    ++Sign.Different;
}

Perturbation::Perturbation(const NumberCensus &Numbers, std::mt19937_64 &Random)
    : Type(Numbers.Type) {
  const Layout L = layoutOf(Type);
  const auto &Signs = Numbers.Signs;
  for (int Sign : {0, 1})
    if (Signs[Sign].Different == 1 && Signs[1 - Sign].Different == 2)
      MarkedSign = Sign;
  Least = Numbers.Least;
  Largest = Numbers.Largest;
  if (Numbers.Second && Largest - Numbers.Second > 10 * L.leastNormal())
    Largest = Numbers.Second; // the largest is a mark
  if (empty())
    return;

  uint64_t Low = L.smallestStep() + Random() % L.smallestStep();
  uint64_t High = L.largestStep() - Random() % (L.largestStep() / 2);
  const bool UpFits = Largest + High < L.infinity() - 1;
  const bool DownFits = Least >= L.leastNormal() + High;
  Down = UpFits && DownFits ? Random() & 1 : DownFits;
  if (!UpFits && !DownFits) {
    Least = 1;
    Largest = 0;
    return;
  }
  // A walk that never falls, from one end to the other.
  while ((Largest - Least) >> Shift >= Knots)
    ++Shift;
  uint64_t Sum = 0;
  for (uint64_t &Step : Steps)
    Step = Sum += Random() % 65536;
  for (uint64_t &Step : Steps)
    Step = Low + static_cast<uint64_t>(double(High - Low) * double(Step) /
                                       double(Sum));
}

/// The distance to the entry below is of no account: entries are so near to
/// each other that a step between them would hardly differ.
uint64_t Perturbation::stepOf(uint64_t Magnitude) const {
  const uint64_t Entry = (Magnitude - Least) >> Shift;
  return Down ? Steps[Knots - Entry] : Steps[Entry];
}

uint64_t Perturbation::mapped(uint64_t Bits) const {
  const uint64_t Sign = Bits & layoutOf(Type).sign();
  const uint64_t Magnitude = Bits ^ Sign;
  if (Magnitude < Least || Magnitude > Largest || MarkedSign == (Sign != 0))
    return Bits;
  return Sign |
         (Down ? Magnitude - stepOf(Magnitude) : Magnitude + stepOf(Magnitude));
}

uint64_t Perturbation::apply(std::span<uint8_t> Bytes) const {
  if (empty())
    return 0;
  const size_t Size = elementSize(Type);
  uint64_t Changed = 0;
  for (size_t At = 0; At + Size <= Bytes.size(); At += Size) {
    const uint64_t Old = load(Bytes.data() + At, Size), New = mapped(Old);
    Changed += New != Old;
    std::memcpy(Bytes.data() + At, &New, Size);
  }
  return Changed;
}

bool hasNewNonNumber(std::span<const uint8_t> Recorded,
                     std::span<const uint8_t> Now, ValueType Type) {
  if (!hasTolerance(Type) || Recorded.size() != Now.size())
    return false;
  const size_t Size = elementSize(Type);
  for (size_t At = 0; At + Size <= Now.size(); At += Size)
    if (!std::isfinite(valueAt(Now, At, Type)) &&
        std::isfinite(valueAt(Recorded, At, Type)))
      return true;
  return false;
}

} // namespace r3::trust
