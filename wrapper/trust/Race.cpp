// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Student's t by its table.
#include "wrapper/trust/Race.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace r3::trust {

namespace {

constexpr size_t LeastRounds = 3;
/// One-sided 99.97 %, from two degrees of freedom on; the last for all beyond.
constexpr double StudentT[] = {40.806, 15.355, 9.832, 7.671, 6.562,
                               5.899,  5.462,  5.154, 4.925};
constexpr double LeastDeviation = 0.02;
constexpr double ClockNs = 1000;

} // namespace

void Race::add(double OriginalNs, double VariantNs) {
  const double Shorter = std::min(OriginalNs, VariantNs);
  if (!(Shorter > 0))
    return;
  ShortestNs = ShortestNs > 0 ? std::min(ShortestNs, Shorter) : Shorter;
  Sum += std::log(OriginalNs / VariantNs);
  ++Pairs;
}

void Race::endRound() {
  if (Pairs)
    Rounds.push_back(Sum / Pairs);
  Sum = 0;
  Pairs = 0;
}

bool Race::isLost() const {
  if (!(Beat > 0) || Rounds.size() < LeastRounds)
    return false;
  const auto N = static_cast<double>(Rounds.size());
  double Mean = 0, Squares = 0;
  for (double Each : Rounds)
    Mean += Each / N;
  for (double Each : Rounds)
    Squares += (Each - Mean) * (Each - Mean);
  const double Deviation = std::max(
      {std::sqrt(Squares / (N - 1)), LeastDeviation, ClockNs / ShortestNs});
  const double T =
      StudentT[std::min(Rounds.size() - LeastRounds, std::size(StudentT) - 1)];
  return Mean + T * Deviation / std::sqrt(N) < std::log(Beat);
}

} // namespace r3::trust
