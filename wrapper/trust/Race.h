// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a variant that is being timed need not be timed any longer: a race, as
// in Maron and Moore, "Hoeffding races" (NIPS 1993), with the paired t-test of
// irace (Lopez-Ibanez et al., Operations Research Perspectives 3, 2016) in
// place of their bound. After three pairs and more it is given up where the
// upper bound of the mean logarithm of its gain, one-sided at 99.97 %, is below
// the gain that it has to beat. The deviation is never taken for less than 2 %
// or than a microsecond of the shorter launch: a few times that are equal by
// chance, or by the steps of a clock, say nothing.
//
// Times that vary more, or now and then take much longer, widen the bound: the
// pairs are then all run. RaceTest simulates what that comes to.
#pragma once

#include <vector>

namespace r3::trust {

class Race {
public:
  /// Beat: a gain, 1 for the original's own; 0: nothing is ever given up.
  explicit Race(double Beat) : Beat(Beat) {}

  /// A pair: times of the original and the variant, above 0.
  void add(double OriginalNs, double VariantNs);
  /// Ends a round: pairs that were added since the last, one a recording, count
  /// as one.
  void endRound();
  bool isLost() const;

private:
  double Beat;
  double ShortestNs = 0;
  double Sum = 0; // of the round, of logarithms
  unsigned Pairs = 0;
  std::vector<double> Rounds; // logarithms of gains
};

} // namespace r3::trust
