// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches against their definition, and how well they estimate.
#include "runtime/support/Sketch.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <random>
#include <vector>

using namespace r3;

namespace {

template <typename T>
Sketch sketchOfAll(const std::vector<T> &Values, uint64_t Seed,
                   uint64_t First = 0) {
  const ValueType Type = sizeof(T) == 4 ? ValueType::F32 : ValueType::F64;
  return sketchOf({reinterpret_cast<const uint8_t *>(Values.data()),
                   Values.size() * sizeof(T)},
                  {Type, Seed, First});
}

/// s_k(i), as Sketch.h says it: the signs of the element and of the sum, and
/// the Hadamard matrix.
double signOf(uint64_t Seed, unsigned K, uint64_t I) {
  const uint64_t Group = I / 64, In = I % 64;
  const uint64_t Bits = sketch::elementSigns(Seed, Group) >> In ^
                        sketch::sumSigns(Seed, Group) >> K ^
                        uint64_t(std::popcount(K & In));
  return Bits & 1 ? -1 : 1;
}

double meanSquare(const Sketch &A, const Sketch &B) {
  double Sum = 0;
  for (unsigned K = 0; K < 64; ++K)
    Sum += (A.Sums[K] - B.Sums[K]) * (A.Sums[K] - B.Sums[K]) / 64;
  return Sum;
}

template <typename T> void expectAsDefined(uint64_t First) {
  std::mt19937_64 Random(First);
  std::vector<T> Values(1000); // the last group is not whole
  for (T &Value : Values)
    Value = T(int64_t(Random() % 2001) - 1000);
  const Sketch S = sketchOfAll(Values, 9, First);
  for (unsigned K = 0; K < 64; ++K) {
    double Want = 0; // exact: integers
    for (size_t I = 0; I < Values.size(); ++I)
      Want += signOf(9, K, First + I) * Values[I];
    EXPECT_EQ(S.Sums[K], Want) << K;
  }
  EXPECT_EQ(S.Odd, 0u);
}

TEST(Sketch, IsSumsWithSigns) {
  for (uint64_t First : {0, 64, 6400}) {
    expectAsDefined<float>(First);
    expectAsDefined<double>(First);
  }
}

TEST(Sketch, PartsAddUp) {
  std::vector<double> All(640), Head(256), Tail(384);
  for (size_t I = 0; I < All.size(); ++I)
    (I < 256 ? Head[I] : Tail[I - 256]) = All[I] = double(I * I % 101);
  Head[3] = All[3] = std::numeric_limits<double>::infinity();
  Tail[5] = All[256 + 5] = std::nan("");
  Sketch Sum = sketchOfAll(Head, 4);
  addTo(Sum, sketchOfAll(Tail, 4, 256));
  const Sketch Whole = sketchOfAll(All, 4);
  EXPECT_EQ(Sum.Odd, Whole.Odd);
  for (unsigned K = 0; K < 64; ++K)
    EXPECT_EQ(Sum.Sums[K], Whole.Sums[K]) << K;
}

// Bias and spread of the estimate, for differences that are spread out, few,
// and one.
TEST(Sketch, EstimatesSquaresWithin18Percent) {
  std::mt19937_64 Random(1);
  const std::vector<float> Nothing(6000);
  for (size_t Step : {1, 100, 6000}) {
    std::vector<float> X(6000);
    double Norm = 0;
    for (size_t I = 0; I < X.size(); I += Step) {
      X[I] = float(std::normal_distribution<>()(Random));
      Norm += double(X[I]) * X[I];
    }
    constexpr unsigned Draws = 400;
    double Mean = 0, Squares = 0;
    for (unsigned Draw = 0; Draw < Draws; ++Draw) {
      const uint64_t Seed = Random();
      const double Ratio =
          meanSquare(sketchOfAll(X, Seed), sketchOfAll(Nothing, Seed)) / Norm;
      Mean += Ratio / Draws;
      Squares += Ratio * Ratio / Draws;
    }
    EXPECT_NEAR(Mean, 1, 4 * 0.18 / std::sqrt(Draws)) << Step;
    EXPECT_LT(std::sqrt(std::max(0.0, Squares - Mean * Mean)), 0.21) << Step;
  }
}

TEST(Sketch, SumsLoseNothingToTheirLength) {
  std::mt19937_64 Random(2);
  std::vector<double> X(32768);
  double Norm = 0;
  for (double &Value : X) {
    Value = std::normal_distribution<>()(Random);
    Norm = std::hypot(Norm, Value);
  }
  const Sketch S = sketchOfAll(X, 5);
  for (unsigned K = 0; K < 64; ++K) {
    long double Exact = 0;
    for (size_t I = 0; I < X.size(); ++I)
      Exact += signOf(5, K, I) * X[I];
    EXPECT_LT(std::fabs(double(S.Sums[K] - Exact)), 5 * 0x1p-53 * Norm) << K;
  }
}

TEST(Sketch, DigestsWhatIsNoNumber) {
  const double Infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> X(128, 1.5);
  auto With = [&](std::initializer_list<std::pair<size_t, double>> Changes) {
    auto Changed = X;
    for (auto [At, Value] : Changes)
      Changed[At] = Value;
    return sketchOfAll(Changed, 6);
  };
  const Sketch NaN = With({{7, std::nan("")}});
  // Its payload and sign do not count, its place does.
  EXPECT_EQ(NaN.Odd, With({{7, -std::nan("5")}}).Odd);
  EXPECT_NE(NaN.Odd, With({{8, std::nan("")}}).Odd);
  EXPECT_NE(NaN.Odd, With({{7, Infinity}}).Odd);
  EXPECT_NE(With({{7, Infinity}}).Odd, With({{7, -Infinity}}).Odd);
  EXPECT_NE(With({{7, 0x1p1000}}).Odd, With({{7, 0x1p1001}}).Odd);
  EXPECT_EQ(With({{7, 0x1p959}}).Odd, 0u);
  // One that is replaced by another is found, too.
  EXPECT_NE(With({{7, std::nan("")}, {70, Infinity}}).Odd,
            With({{7, Infinity}, {70, std::nan("")}}).Odd);
  for (unsigned K = 0; K < 64; ++K)
    EXPECT_EQ(NaN.Sums[K], With({{7, 0}}).Sums[K]);
}

TEST(Sketch, SurvivesTheWire) {
  const Sketch S = sketchOfAll(std::vector<float>{1, 2, NAN}, 7);
  ByteWriter Out;
  writeSketch(Out, S);
  ByteReader In(Out.data(), "sketch");
  const Sketch Back = readSketch(In);
  EXPECT_FALSE(In.finish());
  EXPECT_EQ(std::memcmp(&S, &Back, sizeof(S)), 0);
}

} // namespace
