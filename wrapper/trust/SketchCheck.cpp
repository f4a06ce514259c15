// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/SketchCheck.h"

#include <algorithm>
#include <cmath>

namespace r3::trust {

namespace {

constexpr double SketchSlack = 1.5;
/// Of the norm: rounding of the sums, which is some 2^-53 of it.
constexpr double SumError = 0x1p-49;

} // namespace

double SketchPair::norm() const {
  double Norm = 0; // no squares, which may be out of range
  for (double Sum : Last.Sums)
    Norm = std::hypot(Norm, Sum);
  return Norm / std::sqrt(sketch::Width);
}

double SketchPair::distance() const {
  double Norm = 0;
  for (unsigned K = 0; K < sketch::Width; ++K)
    Norm = std::hypot(Norm, Got.Sums[K] - Last.Sums[K]);
  return Norm / std::sqrt(sketch::Width);
}

/// |got - record| <= max(2 Spread, CloseTo + CloseTo |record|) of each element;
/// the record's norm is at most (Norm + CloseTo sqrt(Elements)) / (1 -
/// CloseTo), since Last is accepted.
double reachOfSpread(double Spread, uint64_t Elements, double CloseTo,
                     double Norm) {
  const double Root = std::sqrt(double(Elements));
  const double Record = (Norm + CloseTo * Root) / (1 - CloseTo);
  return std::max(0.0, VariantCheck::MostSpreads * Spread) * Root +
         CloseTo * (Root + Record);
}

Judgement judgeSketches(const Buffer &Where, const SketchPair &Pair,
                        double Reach) {
  if (Pair.Got.Odd != Pair.Last.Odd)
    return {Outcome::Wrong, Where.Name +
                                ": a timed launch left NaN or infinity "
                                "elsewhere than the last one"};
  const double Most = SketchSlack * Reach + SumError * Pair.norm();
  const double Distance = Pair.distance();
  if (Distance <= Most)
    return {};
  return {Outcome::Wrong,
          format("%s: the results of two timed launches are about %.3g apart "
                 "(the norm of the difference, by random sums), at most %.3g "
                 "is allowed",
                 Where.Name.c_str(), Distance, Most)};
}

} // namespace r3::trust
