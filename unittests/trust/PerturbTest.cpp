// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stays when numbers change, over buffers of many kinds.
#include "wrapper/trust/Perturb.h"
#include "wrapper/trust/Values.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

using namespace r3;
using namespace r3::trust;

namespace {

template <typename T> constexpr ValueType TypeOf = ValueType::F64;
template <> constexpr ValueType TypeOf<float> = ValueType::F32;

template <typename T> std::span<uint8_t> bytesOf(std::vector<T> &Values) {
  return {reinterpret_cast<uint8_t *>(Values.data()),
          Values.size() * sizeof(T)};
}

/// One draw.
template <typename T>
std::vector<T> perturbed(std::vector<T> Values, unsigned Seed,
                         uint64_t *Changed = nullptr) {
  NumberCensus Census(TypeOf<T>);
  Census.add(bytesOf(Values));
  std::mt19937_64 Random(Seed);
  const uint64_t Count = Perturbation(Census, Random).apply(bytesOf(Values));
  if (Changed)
    *Changed = Count;
  return Values;
}

template <typename T> bool sameBits(T A, T B) {
  return !std::memcmp(&A, &B, sizeof(T));
}

/// Order, equality, sign and zero; how far numbers go.
template <typename T>
void expectKept(const std::vector<T> &Old, const std::vector<T> &New) {
  std::map<T, T> Map;
  for (size_t I = 0; I < Old.size(); ++I) {
    if (!std::isnormal(Old[I])) {
      EXPECT_TRUE(sameBits(Old[I], New[I])) << Old[I];
      continue;
    }
    EXPECT_TRUE(std::isnormal(New[I])) << Old[I];
    EXPECT_EQ(std::signbit(Old[I]), std::signbit(New[I]));
    const double D = std::fabs(double(New[I]) / double(Old[I]) - 1);
    EXPECT_LE(D, std::ldexp(1, -5)) << Old[I];
    EXPECT_TRUE(New[I] == Old[I] || D >= std::ldexp(1, -13)) << Old[I];
    auto [Known, Fresh] = Map.emplace(Old[I], New[I]);
    EXPECT_EQ(Known->second, New[I]) << Old[I];
  }
  const T *Last = nullptr;
  for (const auto &[Before, After] : Map) {
    EXPECT_TRUE(!Last || *Last < After) << Before;
    Last = &After;
  }
}

template <typename T> class Numbers : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Numbers, Types);

TYPED_TEST(Numbers, OrderSignsZeroAndEqualityStay) {
  using T = TypeParam;
  std::mt19937_64 Random(1);
  for (unsigned Round = 0; Round < 300; ++Round) {
    std::vector<T> Values;
    const unsigned Count = 1 + Random() % 200;
    const int Range = 1 + Random() % 60;
    const unsigned Different = 1 + Random() % 50;
    for (unsigned I = 0; I < Count; ++I) {
      const unsigned Kind = Random() % 10;
      const T X = T(std::ldexp(1 + double(Random() % Different) / Different,
                               int(Random() % Range) - Range / 2));
      Values.push_back(Kind == 0                     ? T(0)
                       : Kind == 1                   ? -T(0)
                       : Kind == 2                   ? std::nextafter(X, T(9e9))
                       : Kind == 3                   ? std::nextafter(X, T(0))
                       : Kind == 4 && Round % 2      ? -X
                       : Kind == 5 && Round % 7 == 0 ? T(INFINITY)
                       : Kind == 6 && Round % 11 == 0 ? T(NAN)
                       : Kind == 7 && Round % 5 == 0
                           ? std::numeric_limits<T>::denorm_min() * T(I)
                           : X);
    }
    expectKept(Values, perturbed(Values, Round));
  }
}

TYPED_TEST(Numbers, NeighboursStayDifferent) {
  using T = TypeParam;
  // Across a power of two, where the distance of numbers doubles.
  std::vector<T> Values = {T(1)};
  for (unsigned I = 0; I < 1000; ++I) {
    Values.insert(Values.begin(), std::nextafter(Values.front(), T(0)));
    Values.push_back(std::nextafter(Values.back(), T(2)));
  }
  for (unsigned Seed = 0; Seed < 20; ++Seed) {
    uint64_t Changed = 0;
    expectKept(Values, perturbed(Values, Seed, &Changed));
    EXPECT_EQ(Changed, Values.size());
  }
}

TYPED_TEST(Numbers, BothEndsOfTheTypeAreKept) {
  using T = TypeParam;
  using Limits = std::numeric_limits<T>;
  for (unsigned Seed = 0; Seed < 20; ++Seed) {
    expectKept<T>({Limits::min(), Limits::min() * 2},
                  perturbed<T>({Limits::min(), Limits::min() * 2}, Seed));
    const T Large = Limits::max() / 2;
    expectKept<T>({Large, Large / 3}, perturbed<T>({Large, Large / 3}, Seed));
    // From one end to the other there is no way to go.
    const std::vector<T> Both = {Limits::min(),
                                 std::nextafter(Limits::max(), T(0))};
    expectKept(Both, perturbed(Both, Seed));
  }
}

TYPED_TEST(Numbers, MarksStay) {
  using T = TypeParam;
  for (unsigned Seed = 0; Seed < 20; ++Seed) {
    // None is -1, the others are not.
    const std::vector<T> Indexed = {3, -1, 4, -1, 5};
    auto Now = perturbed(Indexed, Seed);
    EXPECT_EQ(Now[1], T(-1));
    EXPECT_NE(Now[0], T(3));
    // Nothing found.
    Now = perturbed<T>({T(1e30), 1, 2, T(1e30)}, Seed);
    EXPECT_EQ(Now[0], T(1e30));
    EXPECT_NE(Now[1], T(1));
    const T Most = std::numeric_limits<T>::max();
    Now = perturbed<T>({Most, 1, -Most, 2}, Seed);
    EXPECT_EQ(Now[0], Most);
    EXPECT_EQ(Now[2], -Most);
    EXPECT_NE(Now[3], T(2));
  }
}

TYPED_TEST(Numbers, OneValueIsNoMark) {
  using T = TypeParam;
  uint64_t Changed = 0;
  auto Now = perturbed<T>({T(1.5), T(1.5), T(1.5)}, 1, &Changed);
  EXPECT_EQ(Changed, 3u);
  EXPECT_EQ(Now[0], Now[2]);
  // Nor are two of both signs.
  Now = perturbed<T>({-1, 1}, 1, &Changed);
  EXPECT_EQ(Changed, 2u);
  EXPECT_EQ(Now[0], -Now[1]);
}

TYPED_TEST(Numbers, DrawsDifferInSizeAndDirection) {
  using T = TypeParam;
  unsigned Up = 0, Draws = 200;
  double Least = 1, Most = 0;
  for (unsigned Seed = 0; Seed < Draws; ++Seed) {
    const auto Now = perturbed<T>({T(0.001), T(1), T(1000)}, Seed);
    Up += Now[1] > 1;
    for (auto [Old, New] : {std::pair{T(0.001), Now[0]}, {T(1000), Now[2]}}) {
      const double D = std::fabs(double(New) / double(Old) - 1);
      Least = std::min(Least, D);
      Most = std::max(Most, D);
    }
    // By element: ratios change, too.
    EXPECT_GT(std::fabs(double(Now[0]) / Now[2] / 1e-6 - 1), 1e-4);
  }
  EXPECT_GT(Up, Draws / 3);
  EXPECT_LT(Up, Draws * 2 / 3);
  EXPECT_LT(Least, std::ldexp(1, -11));
  EXPECT_GT(Most, std::ldexp(1, -8));
}

TEST(Perturbation, NothingButMarksDoesNotChange) {
  uint64_t Changed = 1;
  perturbed<float>({0, -0.0f, INFINITY, NAN, FLT_MAX, 1e-40f}, 1, &Changed);
  EXPECT_EQ(Changed, 0u);
  perturbed<float>({}, 1, &Changed);
  EXPECT_EQ(Changed, 0u);
  // Small integers look like denormal numbers.
  std::vector<uint32_t> Integers = {1, 2, 3, 70000};
  std::vector<float> Words(4);
  std::memcpy(Words.data(), Integers.data(), 16);
  perturbed(Words, 1, &Changed);
  EXPECT_EQ(Changed, 0u);
}

TEST(Perturbation, FindsNewNonNumbers) {
  std::vector<double> Old = {1, NAN, 3}, New = {2, INFINITY, 4};
  EXPECT_FALSE(hasNewNonNumber(bytesOf(Old), bytesOf(New), ValueType::F64));
  New[2] = NAN;
  EXPECT_TRUE(hasNewNonNumber(bytesOf(Old), bytesOf(New), ValueType::F64));
  EXPECT_FALSE(hasNewNonNumber(bytesOf(Old), bytesOf(New), ValueType::I64));
}

} // namespace
