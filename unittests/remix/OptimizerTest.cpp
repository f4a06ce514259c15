// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/optimizer/Optimizer.h"
#include "wrapper/remix/optimizer/GaussianProcess.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <gtest/gtest.h>
#include <set>

using namespace r3;

namespace {

/// Two sizes and a switch; a corner does not work.
class Grid : public SearchSpace {
public:
  Grid(int32_t Side, bool Listed) : Side(Side), Listed(Listed) {}

  size_t featureCount() const override { return 3; }
  void features(const Point &P, float *Out) const override {
    Out[0] = float(P[0]) / float(Side);
    Out[1] = float(P[1]) / float(Side);
    Out[2] = float(P[2]);
  }
  std::optional<Point> draw(Random &Dice) const override {
    return Point{any(Dice), any(Dice), int32_t(Dice.below(2))};
  }
  std::optional<Point> step(const Point &P, Random &Dice) const override {
    Point Next = P;
    const size_t At = Dice.below(3);
    Next[At] =
        At == 2 ? 1 - P[2]
                : std::clamp(P[At] + (Dice.chance(0.5) ? 1 : -1), 0, Side - 1);
    return Next;
  }
  std::optional<Point> cross(const Point &A, const Point &B,
                             Random &) const override {
    return Point{A[0], B[1], A[2]};
  }
  std::optional<std::vector<Point>> all(size_t AtMost) const override {
    if (!Listed || size_t(Side) * size_t(Side) * 2 > AtMost)
      return std::nullopt;
    std::vector<Point> Points;
    for (int32_t X = 0; X < Side; ++X)
      for (int32_t Y = 0; Y < Side; ++Y)
        for (int32_t S : {0, 1})
          Points.push_back({X, Y, S});
    return Points;
  }

  std::optional<double> cost(const Point &P) const {
    if (P[0] > Side - 4 && P[1] > Side - 4)
      return std::nullopt;
    const double X = P[0] - 0.7 * Side, Y = P[1] - 0.2 * Side;
    return 1 + (X * X + Y * Y) / Side + (P[2] ? 0 : 2);
  }

private:
  int32_t any(Random &Dice) const { return int32_t(Dice.below(size_t(Side))); }
  int32_t Side;
  bool Listed;
};

struct Outcome {
  std::vector<Point> Proposed;
  double Best = INFINITY;
};

Outcome search(const std::string &Method, const Grid &Space, uint64_t Seed,
               size_t Evaluations, size_t InFlight = 1) {
  auto By = makeOptimizer(Method, Space, Seed);
  Outcome Made;
  std::deque<Point> Flying;
  while (Made.Proposed.size() < Evaluations || !Flying.empty()) {
    while (Flying.size() < InFlight && Made.Proposed.size() < Evaluations) {
      auto P = By->propose();
      if (!P)
        return Made;
      Made.Proposed.push_back(*P);
      Flying.push_back(std::move(*P));
    }
    auto Cost = Space.cost(Flying.front());
    By->tell(Flying.front(), Cost);
    Made.Best = std::min(Made.Best, Cost.value_or(INFINITY));
    Flying.pop_front();
  }
  return Made;
}

class EveryOptimizer : public testing::TestWithParam<std::string> {};

TEST_P(EveryOptimizer, ProposesEachPointOnceUntilTheSpaceIsUsedUp) {
  const Grid Small(6, true);
  const Outcome Made = search(GetParam(), Small, 1, 1000);
  EXPECT_EQ(std::set<Point>(Made.Proposed.begin(), Made.Proposed.end()).size(),
            Made.Proposed.size());
  EXPECT_EQ(Made.Proposed.size(), 72u);
}

TEST_P(EveryOptimizer, GivesTheSameProposalsWithTheSameSeed) {
  for (size_t InFlight : {1, 8}) {
    const Grid Space(20, true);
    const auto One = search(GetParam(), Space, 7, 60, InFlight).Proposed;
    EXPECT_EQ(One, search(GetParam(), Space, 7, 60, InFlight).Proposed);
    EXPECT_NE(One, search(GetParam(), Space, 8, 60, InFlight).Proposed);
  }
}

TEST_P(EveryOptimizer, DoesNotProposeWhatAJournalKnew) {
  const Grid Space(6, true);
  auto By = makeOptimizer(GetParam(), Space, 1);
  const auto All = *Space.all(100);
  for (size_t I = 0; I + 1 < All.size(); ++I)
    By->tell(All[I], Space.cost(All[I]));
  EXPECT_EQ(By->propose(), All.back());
  EXPECT_EQ(By->propose(), std::nullopt);
}

TEST_P(EveryOptimizer, GoesOnWhereNothingWorks) {
  const Grid Space(20, true);
  auto By = makeOptimizer(GetParam(), Space, 1);
  for (int I = 0; I < 60; ++I) {
    auto P = By->propose();
    ASSERT_TRUE(P);
    By->tell(*P, std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, EveryOptimizer,
                         testing::ValuesIn(optimizerNames()),
                         [](const auto &I) { return I.param; });

TEST(OptimizerTest, OtherNamesGiveNone) {
  EXPECT_EQ(makeOptimizer("annealing", Grid(6, true), 1), nullptr);
}

/// Medians over seeds, since one search may be lucky.
double medianBest(const std::string &Method, const Grid &Space,
                  size_t InFlight) {
  std::vector<double> Best;
  for (uint64_t Seed = 1; Seed <= 9; ++Seed)
    Best.push_back(search(Method, Space, Seed, 40, InFlight).Best);
  std::sort(Best.begin(), Best.end());
  return Best[4];
}

TEST(OptimizerTest, BayesianIsNearTheBestOfThousandsIn40) {
  // 0.7 and 0.2 of 50 are grid points: the best costs 1.
  for (bool Listed : {true, false})
    for (size_t InFlight : {1, 8}) {
      const Grid Space(50, Listed);
      EXPECT_LT(medianBest("bayesian", Space, InFlight), 1.1)
          << Listed << " " << InFlight;
      EXPECT_GT(medianBest("random", Space, InFlight), 1.1);
    }
}

TEST(OptimizerTest, BayesianKeepsAwayFromWhatFails) {
  // The larger the better, but beyond the middle nothing works.
  const Grid Space(50, true);
  auto By = makeOptimizer("bayesian", Space, 1);
  size_t Failed = 0;
  for (int I = 0; I < 80; ++I) {
    const Point P = *By->propose();
    const bool Works = P[0] < 25;
    Failed += !Works;
    By->tell(P, Works ? std::optional(51.0 - P[0]) : std::nullopt);
  }
  EXPECT_LT(Failed, 25u); // at random some 40 fail
}

TEST(OptimizerTest, BayesianGoesOnBeyondWhatItsModelHolds) {
  const Grid Space(60, false);
  const Outcome Made = search("bayesian", Space, 3, 700);
  EXPECT_EQ(Made.Proposed.size(), 700u);
  EXPECT_EQ(Made.Best, 1);
}

TEST(GaussianProcessTest, PredictsWhatItWasToldAndDoubtsTheRest) {
  Eigen::MatrixXf Dense(1, 3);
  Dense << 0.0f, 0.5f, 1.0f;
  const FeatureMatrix Pool = Dense.sparseView();
  KernelParameters P = KernelParameters::initial(1);
  P.LogNoise = -9;
  PoolPosterior Model(P, Pool, 2);
  Model.add(Pool.col(0));
  EXPECT_FALSE(Model.isFull());
  Model.add(Pool.col(2));
  EXPECT_TRUE(Model.isFull());
  Eigen::VectorXf Y(2), Mean, Deviation;
  Y << -1, 1;
  Model.predict(Y, Mean, Deviation);
  EXPECT_NEAR(Mean[0], -1, 0.01);
  EXPECT_NEAR(Mean[1], 0, 0.01); // by symmetry
  EXPECT_NEAR(Mean[2], 1, 0.01);
  EXPECT_LT(Deviation[0], 0.05);
  EXPECT_GT(Deviation[1], 0.3);
}

TEST(GaussianProcessTest, DoubtsAChoiceThatWasNeverMade) {
  // The second feature is fitted as one that makes no difference.
  Eigen::MatrixXf Dense(2, 4);
  Dense << 0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f;
  const FeatureMatrix Pool = Dense.sparseView();
  KernelParameters P = KernelParameters::initial(2);
  P.LogScales[1] = 6;
  P.LogNoise = -9;
  PoolPosterior Model(P, Pool, 1);
  Model.add(Pool.col(0));
  Eigen::VectorXf Y(1), Mean, Deviation;
  Y << 1;
  Model.predict(Y, Mean, Deviation);
  EXPECT_LT(Deviation[0], 0.05);
  EXPECT_GT(Deviation[1], 0.3);
  EXPECT_GT(Mean[1], 0.5); // and is still believed to be much like it,
  EXPECT_LT(Mean[1], 0.6); // though less than what is fitted would have it
}

TEST(GaussianProcessTest, CarriesWhatAChoiceDoesToWhereNothingIsKnown) {
  // A size and a switch; too short length scales for one size to tell of the
  // other.
  Eigen::MatrixXf Dense(2, 4);
  Dense << 0.0f, 0.0f, 1.0f, 1.0f, 0.0f, 1.0f, 0.0f, 1.0f;
  const FeatureMatrix Pool = Dense.sparseView();
  KernelParameters P = KernelParameters::initial(2);
  P.LogScales.setConstant(-3);
  P.LogNoise = -9;
  PoolPosterior Model(P, Pool, 2);
  Model.add(Pool.leftCols(2));
  Eigen::VectorXf Y(2), Mean, Deviation;
  Y << 1, -1;
  Model.predict(Y, Mean, Deviation);
  EXPECT_GT(Mean[2], Mean[3] + 0.3f);
  EXPECT_GT(Deviation[3], 2 * Deviation[1]); // but is not sure of it
}

TEST(GaussianProcessTest, FindsTheFeatureThatMatters) {
  Random Dice(5);
  Eigen::MatrixXf X(2, 60);
  Eigen::VectorXd Y(60);
  for (int I = 0; I < 60; ++I) {
    X(0, I) = float(Dice.unit());
    X(1, I) = float(Dice.unit());
    Y[I] = std::sin(6 * double(X(0, I)));
  }
  const auto P = fitParameters(KernelParameters::initial(2), X.sparseView(), Y);
  EXPECT_LT(P.LogScales[0] + 1, P.LogScales[1]);
}

} // namespace
