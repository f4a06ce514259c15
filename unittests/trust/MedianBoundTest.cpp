// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bound of a median against the error that it promises, by exact binomial
// figures and by simulation, and the bootstrap against the same.
#include "wrapper/trust/MedianBound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <vector>

using namespace r3::trust;

namespace {

constexpr double Error = 3e-4;
using Random = std::mt19937_64;

/// P(Binomial(N, P) < K), by the definition.
double binomial(size_t N, double P, size_t K) {
  double Term = std::pow(1 - P, double(N)), Sum = 0;
  for (size_t I = 0; I < K; ++I) {
    Sum += Term;
    Term *= double(N - I) / double(I + 1) * P / (1 - P);
  }
  return Sum;
}

TEST(MedianBound, BinomialSumsAreExact) {
  EXPECT_DOUBLE_EQ(binomialBelow(4, 1), 1 / 16.0);
  EXPECT_DOUBLE_EQ(binomialBelow(4, 2), 5 / 16.0);
  EXPECT_NEAR(binomialBelow(4, 5), 1, 1e-12);
  EXPECT_EQ(binomialBelow(4, 0), 0);
  EXPECT_NEAR(binomialBelow(101, 51), 0.5, 1e-12);
  EXPECT_NEAR(binomialBelow(40, 10), binomial(40, 0.5, 10), 1e-12);
  EXPECT_NEAR(binomialBelow(5001, 2501), 0.5, 1e-9); // 2^-5001 is no double
}

TEST(MedianBound, TwelveValuesAreTheLeast) {
  EXPECT_EQ(valuesNeeded(Error), 12u);
  EXPECT_EQ(valuesNeeded(Error / 2), 13u);
  EXPECT_EQ(valuesNeeded(Error / 4), 14u);
  std::vector<double> Values(11, 2.0);
  EXPECT_FALSE(medianAtLeast(Values, Error));
  EXPECT_FALSE(medianAtMost(Values, Error));
  Values.push_back(1.5);
  EXPECT_EQ(medianAtLeast(Values, Error), 1.5);
  EXPECT_EQ(medianAtMost(Values, Error), 2);
}

TEST(MedianBound, RankIsTheLargestWithinTheError) {
  for (size_t N = 1; N < 400; ++N) {
    const size_t Rank = lowerRank(N, Error);
    EXPECT_LE(binomialBelow(N, Rank), Error) << N;
    EXPECT_GT(binomialBelow(N, Rank + 1), Error) << N;
  }
}

TEST(MedianBound, BoundsAreOrderStatistics) {
  std::vector<double> Values;
  for (int I = 40; I > 0; --I)
    Values.push_back(I);
  ASSERT_EQ(lowerRank(40, Error), 9u);
  EXPECT_EQ(medianAtLeast(Values, Error), 9);
  EXPECT_EQ(medianAtMost(Values, Error), 32);
  EXPECT_EQ(median(Values), 20.5);
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(quantile(Values, 0.99), 40);
  EXPECT_EQ(quantile(Values, 0.95), 38);
  EXPECT_EQ(quantile(Values, 0), 1);
}

/// How often the bound is above the true median, 0.
double simulatedError(size_t N, size_t Runs, double AtError,
                      const std::function<double(Random &)> &Draw) {
  Random Source(N);
  std::vector<double> Values(N);
  size_t Above = 0;
  for (size_t Run = 0; Run < Runs; ++Run) {
    for (double &Value : Values)
      Value = Draw(Source);
    Above += *medianAtLeast(Values, AtError) > 0;
  }
  return double(Above) / double(Runs);
}

double uniform(Random &Source) {
  return double(Source() >> 11) * 0x1p-53 - 0.5;
}
double normal(Random &Source) {
  return std::normal_distribution<double>()(Source);
}
double logNormal(Random &Source) { return std::exp(normal(Source)) - 1; }
double cauchy(Random &Source) { return std::tan(3.14159265 * uniform(Source)); }
double fewValues(Random &Source) { return std::round(normal(Source) * 2); }

TEST(MedianBound, ErrorIsWhatTheBinomialSaysForAnyDistribution) {
  struct {
    size_t N, Runs;
    double Error;
  } const Cases[] = {{16, 100000, Error}, {40, 20000, 0.02}};
  for (auto *Draw : {uniform, logNormal, cauchy})
    for (const auto &Case : Cases) {
      const double Exact = binomialBelow(Case.N, lowerRank(Case.N, Case.Error));
      const double Slack = 4 * std::sqrt(Exact / double(Case.Runs));
      const double Found = simulatedError(Case.N, Case.Runs, Case.Error, Draw);
      EXPECT_LE(Exact, Case.Error);
      EXPECT_NEAR(Found, Exact, Slack) << Case.N;
    }
}

TEST(MedianBound, EqualValuesMakeTheErrorSmaller) {
  EXPECT_LT(simulatedError(16, 20000, 0.05, fewValues), 0.02);
  EXPECT_GT(simulatedError(16, 20000, 0.05, uniform), 0.03);
}

/// The rank that the percentile bootstrap takes of an odd number of values: the
/// first whose probability to be at least a resample's median reaches Error.
size_t bootstrapRank(size_t N) {
  size_t Rank = 1;
  while (1 - binomial(N, double(Rank) / double(N), (N + 1) / 2) < Error)
    ++Rank;
  return Rank;
}

TEST(MedianBound, BootstrapErrsMoreThanItSays) {
  for (size_t N : {13, 21, 31, 41, 61, 101, 201}) {
    const size_t Bootstrap = bootstrapRank(N), Exact = lowerRank(N, Error);
    EXPECT_GT(Bootstrap, Exact) << N;
    EXPECT_LE(Bootstrap, Exact + 2) << N;
    EXPECT_GT(binomialBelow(N, Bootstrap), Error) << N;
  }
  EXPECT_NEAR(binomialBelow(13, bootstrapRank(13)), 0.00171, 1e-5);
  EXPECT_NEAR(binomialBelow(31, bootstrapRank(31)), 0.00044, 1e-5);
}

} // namespace
