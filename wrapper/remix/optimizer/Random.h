// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random numbers that are the same with every standard library (the
// distributions of <random> are not), so that a seed means one search
// everywhere.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace r3 {

class Random {
public:
  explicit Random(uint64_t Seed) : Engine(Seed) {}

  uint64_t bits() { return Engine(); }
  /// 0 .. Limit-1; Limit > 0.
  size_t below(size_t Limit) { return size_t(Engine() % Limit); }
  /// [0, 1).
  double unit() { return double(Engine() >> 11) * 0x1p-53; }
  bool chance(double Probability) { return unit() < Probability; }
  /// Mean 0, variance 1 (Box and Muller 1958).
  double normal() {
    constexpr double TwoPi = 6.283185307179586;
    return std::sqrt(-2 * std::log(1 - unit())) * std::cos(TwoPi * unit());
  }
  template <typename T> const T &pick(const std::vector<T> &Values) {
    return Values[below(Values.size())];
  }
  template <typename T> void shuffle(std::vector<T> &Values) {
    for (size_t I = Values.size(); I > 1; --I)
      std::swap(Values[I - 1], Values[below(I)]);
  }

private:
  std::mt19937_64 Engine;
};

} // namespace r3
