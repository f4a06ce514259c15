// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races on simulated times: what is given up, how soon, and that what is faster
// is not.
#include "wrapper/trust/Race.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace r3::trust;

namespace {

/// Launches with a deviation of Noise, of which a share of Late take up to ten
/// times as long.
struct Launches {
  std::mt19937_64 Engine{7};
  double Noise = 0.02, Late = 0, StepNs = 0;

  double time(double Ns) {
    std::normal_distribution<double> Spread(0, Noise);
    std::uniform_real_distribution<double> Unit(0, 1);
    double Taken = Ns * std::exp(Spread(Engine));
    if (Unit(Engine) < Late)
      Taken *= 1 + 9 * Unit(Engine);
    return StepNs > 0 ? std::max(1.0, std::round(Taken / StepNs)) * StepNs
                      : Taken;
  }
  /// Pairs until the variant is given up, at most eight.
  unsigned run(double Gain, double Beat, double OriginalNs = 100000) {
    Race R(Beat);
    for (unsigned Pairs = 0; Pairs < 8; ++Pairs) {
      if (R.isLost())
        return Pairs;
      const double Original = time(OriginalNs);
      R.add(Original, time(OriginalNs / Gain));
      R.endRound();
    }
    return 8;
  }
  /// Of so many variants, those that were given up before the eighth pair.
  unsigned givenUp(double Gain, double Beat, unsigned Of,
                   double OriginalNs = 100000) {
    unsigned Count = 0;
    for (unsigned I = 0; I < Of; ++I)
      Count += run(Gain, Beat, OriginalNs) < 8;
    return Count;
  }
};

TEST(Race, EndsEarlyForWhatIsClearlySlower) {
  Launches L;
  EXPECT_GE(L.givenUp(/*Gain=*/0.3, /*Beat=*/1, 1000), 1000u);
  EXPECT_EQ(L.run(0.3, 1), 3u);
  EXPECT_GE(L.givenUp(0.8, 1, 1000), 990u);
  EXPECT_GE(L.givenUp(1.0, 1.3, 1000), 990u); // than the best so far
}

TEST(Race, NeverEndsForWhatIsFaster) {
  Launches L;
  EXPECT_EQ(L.givenUp(1.01, 1, 20000), 0u);
  EXPECT_EQ(L.givenUp(1.32, 1.3, 20000), 0u);
  L.Noise = 0.3;
  L.Late = 0.1;
  EXPECT_LE(L.givenUp(1.01, 1, 20000), 20u);
  L.Noise = 0.001;
  L.Late = 0;
  EXPECT_EQ(L.givenUp(1.01, 1, 20000), 0u);
}

/// What is as fast is given up as seldom as five looks at 0.03 % give it up.
TEST(Race, HardlyEverEndsForWhatIsAsFast) {
  Launches L;
  L.Noise = 0.1;
  EXPECT_LE(L.givenUp(1, 1, 20000), 30u);
}

TEST(Race, StepsOfAClockAreNoEvidence) {
  Launches L;
  L.StepNs = 1000;
  L.Noise = 0.01;
  EXPECT_EQ(L.givenUp(/*Gain=*/1.02, /*Beat=*/1, 20000, /*OriginalNs=*/5000),
            0u);
}

TEST(Race, SomeRunsThatTakeLongAreNoEvidence) {
  Launches L;
  L.Late = 0.3;
  EXPECT_LE(L.givenUp(1.05, 1, 20000), 30u);
}

TEST(Race, NothingToBeatNothingToLose) {
  Launches L;
  EXPECT_EQ(L.givenUp(0.01, /*Beat=*/0, 100), 0u);
  Race R(1);
  R.add(0, 100); // no time
  R.endRound();
  EXPECT_FALSE(R.isLost());
}

TEST(Race, RecordingsCountTogether) {
  Race R(1);
  for (int Round = 0; Round < 8; ++Round) {
    R.add(100000, 200000); // slower on one
    R.add(100000, 45000);  // and faster on the other
    R.endRound();
    EXPECT_FALSE(R.isLost());
  }
}

} // namespace
