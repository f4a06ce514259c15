// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tolerance against honest rewritings, which it accepts over many draws,
// and dishonest ones, which it rejects.
#include "unittests/trust/NumericKernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace r3;
using namespace r3::trust;
using namespace r3::trust::testing;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t Seeds = 12;

template <typename T> class Tolerance : public ::testing::Test {};
using Types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Tolerance, Types);

/// How many of the variants are right.
template <typename T>
size_t accepted(const Experiment<T> &E,
                const std::vector<Kernel<T>> &Variants) {
  size_t Result = 0;
  for (const Kernel<T> &Variant : Variants) {
    const Judgement J = E.judge(Variant);
    EXPECT_TRUE(J.ok() || !J.Message.empty());
    Result += J.ok();
  }
  return Result;
}

TYPED_TEST(Tolerance, HonestSumsAreAccepted) {
  for (Inputs Kind : {Inputs::Positive, Inputs::Signed, Inputs::FewDigits})
    for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
      const Products<TypeParam> P(Kind, 96, 64, Seed);
      const Experiment<TypeParam> Plain(P.sequential(), Seed);
      ASSERT_TRUE(Plain.Ready.ok()) << Plain.Ready.Message;
      EXPECT_EQ(accepted(Plain, {P.backward(), P.lanes(32), P.lanes(4),
                                 P.contracted(), P.compensated()}),
                5u);
      const Experiment<TypeParam> Tree(P.lanes(32), Seed);
      EXPECT_EQ(accepted(Tree, {P.sequential(), P.contracted()}), 2u);
    }
}

TYPED_TEST(Tolerance, DishonestSumsAreRejected) {
  Arithmetic<TypeParam> Truncating(Rounding::TowardZero);
  for (Inputs Kind : {Inputs::Positive, Inputs::Signed, Inputs::WideRange})
    for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
      const Products<TypeParam> P(Kind, 96, 64, Seed);
      const Experiment<TypeParam> E(P.sequential(), Seed);
      EXPECT_EQ(accepted(E, {P.half()}), 0u);
      // In a wide range a single term may be less than the sum's rounding.
      if (Kind != Inputs::WideRange) {
        EXPECT_EQ(accepted(E, {P.lastTermLeftOut()}), 0u);
      }
      EXPECT_FALSE(E.judge(P.sequential()(Truncating)).ok());
    }
}

TYPED_TEST(Tolerance, DroppedCompensationIsRejected) {
  for (uint64_t Seed = 0; Seed < 4; ++Seed) {
    const Products<TypeParam> P(Inputs::Positive, 64, 1024, Seed);
    const Experiment<TypeParam> E(P.compensated(), Seed);
    EXPECT_FALSE(E.judge(P.sequential()).ok());
    EXPECT_TRUE(E.judge(P.lanes(64)).ok());
  }
}

/// Sums of 64 terms lose too little without compensation for the sigmas.
TEST(ToleranceTest, ErrorAgainstDoubleIsAtMostTwiceTheOriginals) {
  Arithmetic<float> Nearest;
  for (uint64_t Seed = 0; Seed < 4; ++Seed) {
    const Products<float> P(Inputs::Positive, 256, 64, Seed);
    const Experiment<float> E(P.compensated(), Seed);
    const auto InDouble = P.inDouble();
    const auto Plain = P.sequential()(Nearest);
    EXPECT_TRUE(E.judge(Plain).ok());
    const Judgement J = E.check(Plain, {}, InDouble).verdict();
    EXPECT_EQ(J.Result, Outcome::Wrong);
    EXPECT_THAT(J.Message, HasSubstr("sigma (RMS) from an evaluation in "
                                     "double, the original by"));
    // A few elements that went another way there change nothing.
    auto Astray = InDouble;
    for (size_t I = 0; I < Astray.size(); I += 16)
      Astray[I] *= 1.5;
    EXPECT_EQ(E.check(Plain, {}, Astray).verdict().Result, Outcome::Wrong);
    EXPECT_TRUE(E.check(P.lanes(32)(Nearest), {}, Astray).verdict().ok());
    EXPECT_TRUE(E.check(P.lanes(32)(Nearest), {}, InDouble).verdict().ok());
  }
}

/// One in which all sums pass through memory, as float: the original again.
TEST(ToleranceTest, AnEvaluationThatIsNoBetterDoesNotCount) {
  Arithmetic<float> Nearest;
  for (uint64_t Seed = 0; Seed < 4; ++Seed) {
    const Products<float> P(Inputs::Positive, 256, 64, Seed);
    const Experiment<float> E(P.sequential(), Seed);
    const auto Original = P.sequential()(Nearest);
    const ToleranceCheck C =
        E.check(P.backward()(Nearest), {}, {Original.begin(), Original.end()});
    EXPECT_GT(C.deviation().Error, 2 * C.deviation().OriginalError);
    EXPECT_TRUE(C.verdict().ok()) << C.verdict().Message;
    EXPECT_THAT(C.describe(), HasSubstr("is no nearer to the exact results"));
  }
}

TYPED_TEST(Tolerance, ErrorsThatAllElementsShareAreAccepted) {
  for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
    const Normalise<TypeParam> P(Inputs::Positive, 512, Seed);
    const Experiment<TypeParam> E(P.dividing(1), Seed);
    EXPECT_EQ(
        accepted(E, {P.dividing(8), P.byReciprocal(1), P.byReciprocal(8)}), 3u);
  }
}

TYPED_TEST(Tolerance, FewOperationsAreContractedButNotTruncated) {
  Arithmetic<TypeParam> Truncating(Rounding::TowardZero);
  for (Inputs Kind : {Inputs::Positive, Inputs::Signed, Inputs::FewDigits})
    for (uint64_t Seed = 0; Seed < Seeds; ++Seed) {
      const Smoothing<TypeParam> P(Kind, 512, 1, Seed);
      const Experiment<TypeParam> E(P.plain(), Seed);
      ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
      EXPECT_EQ(accepted(E, {P.contracted()}), 1u) << Seed;
      const Judgement J = E.judge(P.plain()(Truncating));
      EXPECT_EQ(J.Result, Outcome::Wrong);
      EXPECT_THAT(J.Message, HasSubstr(Kind == Inputs::Signed
                                           ? "out is too near to zero by"
                                           : "out is too low by"));
    }
}

/// One result that everything about single elements is tried on.
template <typename T> struct Single {
  Products<T> P{Inputs::Positive, 96, 64, 5};
  Experiment<T> E{P.sequential(), 5};
  std::vector<T> Got = E.Record;
};

TYPED_TEST(Tolerance, OneElementOffByTwentySigmaIsRejected) {
  Single<TypeParam> S;
  // A sum of 64 products near 0.4 has a sigma of one to four ULP.
  const TypeParam Ulp = std::nextafter(S.Got[40], TypeParam(1e9)) - S.Got[40];
  S.Got[40] += 3 * Ulp;
  EXPECT_TRUE(S.E.judge(S.Got).ok());
  S.Got[40] += 77 * Ulp;
  const ToleranceCheck C = S.E.check(S.Got);
  EXPECT_TRUE(C.decided());
  EXPECT_GT(C.deviation().Largest, 20);
  const std::string Text = C.verdict().Message;
  EXPECT_THAT(Text, HasSubstr("out[40]: expected "));
  EXPECT_THAT(Text, HasSubstr(" sigma, 12 are allowed (sigma is "));
  EXPECT_THAT(Text, HasSubstr("(1 wrong element)"));
  EXPECT_THAT(C.verdict(/*Complete=*/false).Message, HasSubstr("at least 1"));
}

TYPED_TEST(Tolerance, NeighboursValueZeroAndMeanAreRejected) {
  Single<TypeParam> S;
  for (TypeParam Bad : {S.Got[41], TypeParam(0), S.Got[40] / 2, -S.Got[40]}) {
    auto Got = S.Got;
    Got[40] = Bad;
    EXPECT_EQ(S.E.judge(Got).Result, Outcome::Wrong) << Bad;
  }
}

TYPED_TEST(Tolerance, NanAndInfinityStandWhereTheyStood) {
  using Limits = std::numeric_limits<TypeParam>;
  const Products<TypeParam> P(Inputs::Positive, 96, 64, 5);
  const Kernel<TypeParam> WithSpecials = [&](Arithmetic<TypeParam> &M) {
    auto Result = P.sequential()(M);
    Result[3] = Limits::quiet_NaN();
    Result[4] = Limits::infinity();
    Result[5] = -Limits::infinity();
    return Result;
  };
  const Experiment<TypeParam> E(WithSpecials, 1);
  ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
  auto Got = E.Record;
  Got[3] = -Limits::quiet_NaN(); // sign and payload do not count
  EXPECT_TRUE(E.judge(Got).ok());
  auto Plant = [&](size_t Index, TypeParam Value) {
    auto Bad = E.Record;
    Bad[Index] = Value;
    return E.judge(Bad);
  };
  for (TypeParam Special :
       {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
    EXPECT_EQ(Plant(10, Special).Result, Outcome::Wrong);
  EXPECT_THAT(Plant(10, Limits::quiet_NaN()).Message,
              HasSubstr("got nan, which is no rounding error"));
  EXPECT_EQ(Plant(3, 1).Result, Outcome::Wrong);
  EXPECT_EQ(Plant(4, Limits::max()).Result, Outcome::Wrong);
  EXPECT_EQ(Plant(4, -Limits::infinity()).Result, Outcome::Wrong);
  EXPECT_EQ(Plant(5, Limits::quiet_NaN()).Result, Outcome::Wrong);
}

/// Elements 0 to 3 of the sums are as Change makes them, never rounded.
template <typename T>
Kernel<T> with(const Products<T> &P, std::vector<T> First) {
  return [&P, First](Arithmetic<T> &M) {
    auto Result = P.sequential()(M);
    std::copy(First.begin(), First.end(), Result.begin());
    return Result;
  };
}

TYPED_TEST(Tolerance, ZerosAndDenormalsThatRoundingLeavesAloneAreExact) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam Five = 5 * Limits::denorm_min(); // an integer's bits
  const Products<TypeParam> P(Inputs::Positive, 96, 64, 5);
  const Experiment<TypeParam> E(with<TypeParam>(P, {0, Five, 1}), 1);
  ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
  auto Plant = [&](size_t Index, TypeParam Value) {
    auto Got = E.Record;
    Got[Index] = Value;
    return E.judge(Got).ok();
  };
  EXPECT_TRUE(Plant(0, TypeParam(-0.0)));
  EXPECT_FALSE(Plant(0, Limits::denorm_min()));
  EXPECT_FALSE(Plant(0, Limits::epsilon()));
  EXPECT_FALSE(Plant(1, 6 * Limits::denorm_min()));
  EXPECT_FALSE(Plant(1, 0));
  EXPECT_TRUE(Plant(2, 1 + Limits::epsilon()));
}

TYPED_TEST(Tolerance, DenormalsThatRoundingMovesHaveATolerance) {
  const TypeParam Tiny = std::numeric_limits<TypeParam>::denorm_min();
  const Kernel<TypeParam> Halves = [&](Arithmetic<TypeParam> &M) {
    std::vector<TypeParam> Result;
    for (int I = 0; I < 64; ++I) // the sums are exact, so the coin is here
      Result.push_back(TypeParam(1000 + I) * Tiny +
                       (M.div(1, 3) == TypeParam(1) / 3 ? 0 : Tiny));
    return Result;
  };
  // The values are all there is: their rounding error is 1 in 1000.
  const Experiment<TypeParam> E(Halves, 3);
  ASSERT_TRUE(E.Ready.ok() || sizeof(TypeParam) == 8) << E.Ready.Message;
  auto Got = E.Record;
  Got[7] += 4 * Tiny;
  EXPECT_TRUE(E.judge(Got).ok()) << E.judge(Got).Message;
  Got[7] += 40 * Tiny;
  EXPECT_FALSE(E.judge(Got).ok());
}

TYPED_TEST(Tolerance, ElementsTheOriginalLeavesAloneAreExact) {
  const Products<TypeParam> P(Inputs::Positive, 96, 64, 5);
  const Experiment<TypeParam> E(with<TypeParam>(P, {-77}), 1); // as Before
  auto Got = E.Record;
  Got[0] = std::nextafter(Got[0], TypeParam(0));
  EXPECT_THAT(E.judge(Got).Message,
              HasSubstr("out[0]: expected -77, got -76.99"));
  EXPECT_THAT(E.judge(Got).Message,
              HasSubstr("the original does not change it"));
}

TYPED_TEST(Tolerance, BuffersThatRoundingNeverMovesAreExact) {
  const Kernel<TypeParam> Copy = [](Arithmetic<TypeParam> &) {
    return makeInputs<TypeParam>(Inputs::Positive, 64, 1);
  };
  const Experiment<TypeParam> E(Copy, 1);
  ASSERT_TRUE(E.Ready.ok());
  auto Got = E.Record;
  EXPECT_TRUE(E.judge(Got).ok());
  Got[9] = std::nextafter(Got[9], TypeParam(0));
  EXPECT_THAT(E.judge(Got).Message,
              HasSubstr("rounding never moves this part of the buffer"));
}

TYPED_TEST(Tolerance, NumbersInSomeReplaysOnlyNeedTheOriginalsBits) {
  using Limits = std::numeric_limits<TypeParam>;
  const Products<TypeParam> P(Inputs::Positive, 96, 64, 5);
  const Kernel<TypeParam> Edge = [&](Arithmetic<TypeParam> &M) {
    auto Result = P.sequential()(M);
    Result[2] =
        M.div(1, 3) == TypeParam(1) / 3 ? TypeParam(4) : Limits::infinity();
    return Result;
  };
  const Experiment<TypeParam> E(Edge, 1);
  ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
  ASSERT_EQ(E.Record[2], 4);
  auto Got = E.Record;
  Got[50] = std::nextafter(Got[50], TypeParam(0));
  EXPECT_TRUE(E.judge(Got).ok());
  Got[2] = std::nextafter(Got[2], TypeParam(0));
  EXPECT_THAT(E.judge(Got).Message, HasSubstr("only the original's bits"));
}

TYPED_TEST(Tolerance, UsersToleranceTakesTheirPlaceAndIsShown) {
  Single<TypeParam> S;
  for (TypeParam &Value : S.Got)
    Value *= TypeParam(1.001);
  EXPECT_FALSE(S.E.judge(S.Got).ok());
  const ToleranceCheck Loose = S.E.check(S.Got, UserTolerance{0, 0.002});
  EXPECT_TRUE(Loose.verdict().ok());
  EXPECT_THAT(Loose.describe(), HasSubstr("judged by the tolerance given "
                                          "(absolute 0, relative 0.002)"));
  const ToleranceCheck Tight = S.E.check(S.Got, UserTolerance{1e-9, 0.0005});
  EXPECT_THAT(Tight.verdict().Message, HasSubstr("the tolerance given allows"));
  S.Got[3] = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_FALSE(S.E.check(S.Got, UserTolerance{1e9, 1}).verdict().ok());
}

TEST(ToleranceTest, SystematicErrorOfTheOriginalIsNoObjection) {
  // A truncating original: its own results are biased against the replays.
  const Smoothing<float> P(Inputs::Positive, 512, 1, 3);
  Arithmetic<float> Truncating(Rounding::TowardZero);
  const auto Record = P.plain()(Truncating);
  Experiment<float> E(P.plain(), 3, Record);
  ASSERT_TRUE(E.Ready.ok()) << E.Ready.Message;
  auto Got = P.contracted()(Truncating);
  EXPECT_TRUE(E.judge(Got).ok()) << E.judge(Got).Message;
  EXPECT_LT(E.check(Got).deviation().Upward.Mean, -0.25);
}

TEST(ToleranceTest, EqualElementsAreNotCountedAsIndependent) {
  // 4096 elements of one or two values, each a ULP off: no 4096 errors.
  for (int Values : {1, 2}) {
    const Kernel<float> Thirds = [Values](Arithmetic<float> &M) {
      std::vector<float> Result;
      for (int I = 0; I < 4096; ++I)
        Result.push_back(M.div(float(1 + I % Values), 3));
      return Result;
    };
    const Experiment<float> E(Thirds, 2);
    auto Got = E.Record;
    for (size_t I = 0; I < Got.size(); I += 2)
      Got[I] = std::nextafter(Got[I], 9.0f);
    EXPECT_TRUE(E.judge(Got).ok()) << E.judge(Got).Message;
    EXPECT_GT(E.check(Got).deviation().Upward.Mean, 0.25);
  }
}

} // namespace
