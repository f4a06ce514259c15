// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order statistics by partial sorting of a copy; binomial sums term by term.
#include "wrapper/trust/MedianBound.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace r3::trust {

namespace {

double ranked(std::span<const double> Values, size_t Index) {
  std::vector<double> Copy(Values.begin(), Values.end());
  std::nth_element(Copy.begin(), Copy.begin() + Index, Copy.end());
  return Copy[Index];
}

/// Calls Visit(K, P(Binomial(N, 1/2) < K)) for K from 1 while it returns true.
template <typename Function> void binomialSums(size_t N, Function Visit) {
  double LogTerm = -double(N) * std::log(2.0), Sum = 0;
  for (size_t K = 1; K <= N + 1; ++K) {
    Sum += std::exp(LogTerm);
    if (!Visit(K, Sum))
      return;
    LogTerm += std::log(double(N - K + 1) / double(K));
  }
}

} // namespace

double binomialBelow(size_t N, size_t K) {
  double Result = 0;
  binomialSums(N, [&](size_t Reached, double Sum) {
    if (Reached > K)
      return false;
    Result = Sum;
    return true;
  });
  return Result;
}

size_t lowerRank(size_t N, double Error) {
  size_t Result = 0;
  binomialSums(N, [&](size_t K, double Sum) {
    if (K > N || Sum > Error)
      return false;
    Result = K;
    return true;
  });
  return Result;
}

size_t valuesNeeded(double Error) {
  assert(Error > 0 && "no number of values excludes an error");
  size_t N = 1;
  while (!lowerRank(N, Error))
    ++N;
  return N;
}

double median(std::span<const double> Values) {
  assert(!Values.empty() && "no median of nothing");
  const size_t Half = Values.size() / 2;
  const double Upper = ranked(Values, Half);
  return Values.size() % 2 ? Upper : (ranked(Values, Half - 1) + Upper) / 2;
}

std::optional<double> medianAtLeast(std::span<const double> Values,
                                    double Error) {
  const size_t Rank = lowerRank(Values.size(), Error);
  if (!Rank)
    return std::nullopt;
  return ranked(Values, Rank - 1);
}

std::optional<double> medianAtMost(std::span<const double> Values,
                                   double Error) {
  const size_t Rank = lowerRank(Values.size(), Error);
  if (!Rank)
    return std::nullopt;
  return ranked(Values, Values.size() - Rank);
}

double quantile(std::span<const double> Values, double Part) {
  assert(!Values.empty() && "no quantile of nothing");
  const double Rank = std::ceil(Part * double(Values.size()));
  const size_t Index = Rank < 1 ? 0 : size_t(Rank) - 1;
  return ranked(Values, std::min(Index, Values.size() - 1));
}

} // namespace r3::trust
