// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is accepted lies within its reach, honest results pass their sketches,
// and results that are further away do not.
#include "wrapper/trust/SketchCheck.h"
#include "unittests/trust/NumericKernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

using namespace r3;
using namespace r3::trust;
using namespace r3::trust::testing;
using ::testing::HasSubstr;

namespace {

const Buffer Out{"out", 0x1000, 1 << 20, ValueType::F64};

template <typename T>
double apart(const std::vector<T> &A, const std::vector<T> &B) {
  double Norm = 0;
  for (size_t I = 0; I < A.size(); ++I)
    Norm = std::hypot(Norm, double(A[I]) - double(B[I]));
  return Norm;
}

template <typename T>
SketchPair sketch(const std::vector<T> &Last, const std::vector<T> &Got,
                  uint64_t Seed) {
  const SketchForm Form = {sizeof(T) == 4 ? ValueType::F32 : ValueType::F64,
                           Seed, 0};
  return {sketchOf(bytesOf(Last), Form), sketchOf(bytesOf(Got), Form),
          Last.size()};
}

template <typename T>
bool passes(const std::vector<T> &Last, const std::vector<T> &Got, double Reach,
            uint64_t Seed) {
  return judgeSketches(Out, sketch(Last, Got, Seed), Reach).ok();
}

std::vector<double> normal(size_t Count, Random &Source) {
  std::vector<double> Result(Count);
  for (double &Value : Result)
    Value = std::normal_distribution<>()(Source);
  return Result;
}

// Changes of any shape, as large as the rules just allow them. The shapes with
// the largest distance come near to the reach, which so is not too wide.
TEST(Reach, HoldsWhatRoundingExplains) {
  for (Inputs Kind : {Inputs::Signed, Inputs::WideRange}) {
    const Products<float> P(Kind, 512, 64, 1);
    const Experiment<float> E(P.sequential(), 1);
    ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
    Random Source(2);
    double Farthest = 0;
    for (unsigned Draw = 0; Draw < 30; ++Draw) {
      const double Share = std::ldexp(1.0, -int(Draw % 10));
      const double Power = Draw % 3; // of the value, for the change's size
      std::vector<double> Shape(E.Record.size());
      for (size_t I = 0; I < Shape.size(); ++I)
        if (double(Source() >> 11) * 0x1p-53 <= Share)
          Shape[I] = (Source() & 1 ? 1 : -1) *
                     std::pow(std::fabs(double(E.Record[I])), Power);
      std::vector<float> Accepted = E.Record;
      for (int Scale = -60; Scale < 0; ++Scale) {
        std::vector<float> Got = E.Record;
        for (size_t I = 0; I < Got.size(); ++I)
          Got[I] += float(std::exp2(Scale / 2.0) * Shape[I]);
        const Deviation D = E.check(Got).deviation();
        if (D.Largest <= RoundingModel::MostSigmas &&
            D.Rms <= RoundingModel::MostRms)
          Accepted = Got;
      }
      Farthest = std::max(Farthest, apart(E.Record, Accepted));
    }
    EXPECT_LE(Farthest, E.Model.reach());
    EXPECT_GE(Farthest, E.Model.reach() / 4);
  }
}

TEST(Reach, HoldsWhatASpreadAndAUserAllow) {
  Random Source(3);
  const std::vector<double> Record = normal(1000, Source);
  for (double CloseTo : {0.0, 1e-3, 0.5}) {
    const double Spread = 1e-4;
    auto Draw = [&] {
      std::vector<double> Got = Record;
      for (double &Value : Got)
        Value += (Source() & 1 ? 1 : -1) *
                 std::max(2 * Spread, CloseTo * (1 + std::fabs(Value)));
      return Got;
    };
    const std::vector<double> Last = Draw(), Got = Draw();
    const double Norm = apart(Last, std::vector<double>(Last.size()));
    const double Reach = reachOfSpread(Spread, Last.size(), CloseTo, Norm);
    EXPECT_LE(apart(Record, Got), Reach * (1 + 1e-12)) << CloseTo;
    EXPECT_LE(apart(Last, Got), 2 * Reach) << CloseTo;
    EXPECT_LE(Reach, 4 * apart(Record, Got)) << CloseTo;
  }
}

// Sums in another order at each launch, as atomics make them.
TEST(SketchCheck, HonestSumsPass) {
  const Products<float> P(Inputs::Signed, 256, 64, 4);
  const Experiment<float> E(P.sequential(), 4);
  ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
  Random Source(5);
  std::vector<size_t> Order(P.Terms);
  for (size_t J = 0; J < Order.size(); ++J)
    Order[J] = J;
  Arithmetic<float> Nearest;
  auto Launch =
      P.forEach([&](Arithmetic<float> &M, const float *X, const float *Y) {
        std::shuffle(Order.begin(), Order.end(), Source);
        float Sum = 0;
        for (size_t J : Order)
          Sum = M.add(Sum, P.product(M, X, Y, J));
        return Sum;
      });
  for (unsigned Draw = 0; Draw < 300; ++Draw) {
    const std::vector<float> Last = Launch(Nearest);
    std::vector<float> Got = Launch(Nearest);
    EXPECT_TRUE(passes(Last, Got, 2 * E.Model.reach(), Draw)) << Draw;
    // The same without one element, or with the elements of two changed over.
    Got[Draw % 256] = 0;
    EXPECT_FALSE(passes(Last, Got, 2 * E.Model.reach(), Draw)) << Draw;
    Got = Last;
    std::swap(Got[Draw % 256], Got[(Draw + 1) % 256]);
    EXPECT_FALSE(passes(Last, Got, 2 * E.Model.reach(), Draw)) << Draw;
  }
}

// As far away as the rules allow: 8e-7 by Chernoff's bound. Three times as far:
// 2e-9 pass.
TEST(SketchCheck, DecidesAtTheEdgeAsPromised) {
  Random Source(6);
  for (size_t Count : {1, 3, 100, 2000})
    for (unsigned Draw = 0; Draw < 500; ++Draw) {
      const std::vector<double> Last(Count, 1.0);
      std::vector<double> Got = normal(Count, Source);
      const double Reach = apart(Got, std::vector<double>(Count));
      for (double &Value : Got)
        Value += 1;
      EXPECT_TRUE(passes(Last, Got, Reach, Source())) << Count;
      EXPECT_FALSE(passes(Last, Got, Reach / 3, Source())) << Count;
    }
}

TEST(SketchCheck, KnowsWhereNoNumbersAre) {
  std::vector<double> Last(100, 1.0);
  Last[3] = std::nan("");
  EXPECT_TRUE(passes(Last, Last, 0, 7));
  std::vector<double> Got(100, 1.0);
  Got[4] = std::nan("");
  const Judgement J = judgeSketches(Out, sketch(Last, Got, 7), 1e9);
  EXPECT_EQ(J.Result, Outcome::Wrong);
  EXPECT_THAT(J.Message, HasSubstr("out: a timed launch left NaN or infinity"));
}

// Large elements that are alike, and small ones that differ by less than the
// large ones' rounding.
TEST(SketchCheck, SumsOwnRoundingIsNoDifference) {
  Random Source(8);
  std::vector<double> Last = normal(30000, Source);
  for (unsigned Draw = 0; Draw < 50; ++Draw) {
    std::vector<double> Got = Last;
    for (size_t I = 0; I < Got.size(); I += 10) {
      Last[I] = 1e-15 * std::normal_distribution<>()(Source);
      Got[I] = Last[I] + 1e-18;
    }
    const double Reach = reachOfSpread(1e-18, Got.size(), 0, 1);
    EXPECT_TRUE(passes(Last, Got, Reach, Source())) << Draw;
    Got[1] += 1e-10;
    EXPECT_FALSE(passes(Last, Got, Reach, Source())) << Draw;
  }
}

TEST(SketchCheck, SaysHowFarAndHowMuchIsAllowed) {
  const std::vector<double> Last(100, 1.0);
  std::vector<double> Got = Last;
  Got[7] = 5;
  const Judgement J = judgeSketches(Out, sketch(Last, Got, 9), 0.5);
  EXPECT_EQ(J.Result, Outcome::Wrong);
  EXPECT_THAT(J.Message, HasSubstr("out: the results of two timed launches are "
                                   "about 4 apart"));
  EXPECT_THAT(J.Message, HasSubstr("at most 0.75 is allowed"));
}

} // namespace
