// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What 16 replays say about a buffer, and when they say too little.
#include "unittests/trust/NumericKernels.h"
#include "wrapper/trust/Values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfloat>

using namespace r3;
using namespace r3::trust;
using namespace r3::trust::testing;
using ::testing::HasSubstr;

namespace {

const Buffer Out{"out", 0x1000, 1 << 20, ValueType::F64};

DifferingChunk chunk(const std::vector<uint8_t> &Record,
                     const std::vector<uint8_t> &Got, uint64_t Offset = 0) {
  return {0, Offset, Record, Record, Got};
}

/// A model of Record and replays that Draw makes of it.
template <typename Function>
RoundingModel modelOf(const std::vector<double> &Record, Function Draw,
                      unsigned Replays = RoundingModel::Replays,
                      uint64_t LimitBytes = 1 << 20) {
  RoundingModel Result(Out, LimitBytes);
  for (unsigned I = 0; I < Replays; ++I) {
    Result.beginReplay();
    const auto Got = Draw(I);
    if (Got != Record)
      Result.addChunk(chunk(bytesOf(Record), bytesOf(Got)));
  }
  return Result;
}

/// sigma of the only element, from a check of a value that is D away.
double sigmasOf(const RoundingModel &Model, std::vector<double> Record,
                size_t Index, double D) {
  auto Got = Record;
  Got[Index] += D;
  ToleranceCheck Check(Model);
  const std::vector<uint8_t> Before(Record.size() * 8, 1);
  const auto R = bytesOf(Record), G = bytesOf(Got);
  Check.addChunk({0, 0, Before, R, G});
  return Check.deviation().Largest;
}

TEST(RoundingModel, MeanAndSigmaAreThoseOfAllReplays) {
  // Half the replays give the record, half are E above: mean E / 2, sigma by
  // 15: E / 2 * sqrt(16 / 15). Replays with equal chunks are not added.
  const double E = 0x1p-40;
  auto Model = modelOf({1.5}, [&](unsigned I) {
    return std::vector<double>{I % 2 ? 1.5 : 1.5 + E};
  });
  ASSERT_TRUE(Model.finish().ok());
  const double Sigma = E / 2 * std::sqrt(16.0 / 15);
  // The pool of one element is itself, to an eighth.
  EXPECT_NEAR(sigmasOf(Model, {1.5}, 0, E * 5), 4.5 * E / Sigma,
              0.15 * 4.5 * E / Sigma);
  EXPECT_NEAR(sigmasOf(Model, {1.5}, 0, E / 2), 0, 1e-9);
}

TEST(RoundingModel, SmallSigmaIsRaisedToThePoolsAndToOneUlp) {
  const double E = 0x1p-40;
  std::vector<double> Record(101, 1.5);
  Record.back() = 100; // alone at its exponent, too far for the pool
  auto Draw = [&](unsigned I) {
    auto Got = Record;
    for (size_t J = 1; J < 100; ++J)
      Got[J] += (I + J) % 2 ? E : -E;
    return Got;
  };
  auto Model = modelOf(Record, Draw);
  ASSERT_TRUE(Model.finish().ok());
  EXPECT_NEAR(sigmasOf(Model, Record, 0, 10 * E), 10, 1.5); // never moved
  EXPECT_NEAR(sigmasOf(Model, Record, 100, 0x1p-46), 1, 1e-6);
}

TEST(RoundingModel, OneIllConditionedElementLendsNothingToOthers) {
  const double E = 0x1p-45;
  std::vector<double> Record(100, 1.5);
  auto Draw = [&](unsigned I) {
    auto Got = Record;
    for (size_t J = 0; J < 100; ++J)
      Got[J] += ((I + J) % 2 ? E : -E) * (J ? 1 : 1 << 12);
    return Got;
  };
  auto Model = modelOf(Record, Draw);
  ASSERT_TRUE(Model.finish().ok());
  EXPECT_GT(sigmasOf(Model, Record, 5, 30 * E), 25);
  EXPECT_LT(sigmasOf(Model, Record, 0, 30 * E), 1);
}

TEST(RoundingModel, FewerThanSixteenReplaysAreNotVerifiable) {
  auto Model = modelOf({1.0}, [](unsigned) { return std::vector{1.0}; }, 15);
  EXPECT_EQ(Model.finish().Message,
            "out: 15 replays with random rounding, 16 are needed");
}

TEST(RoundingModel, LimitIsKept) {
  const std::vector<double> Record(64, 1.0);
  auto Draw = [&](unsigned I) {
    return std::vector<double>(64, 1.0 + I * DBL_EPSILON);
  };
  EXPECT_TRUE(modelOf(Record, Draw, 16, 3 * 512).finish().ok());
  const Judgement J = modelOf(Record, Draw, 16, 3 * 512 - 1).finish();
  EXPECT_EQ(J.Result, Outcome::NotVerifiable);
  EXPECT_THAT(J.Message, HasSubstr("are needed to tell rounding errors"));
}

TEST(RoundingModel, RoundingThatDecidesTheResultIsNotVerifiable) {
  const std::vector<double> Record{1.0, 2.0};
  auto Shaken = [&](double Part) {
    return modelOf(Record, [&, Part](unsigned I) {
      const double D = I % 2 ? Part : -Part;
      return std::vector<double>{1 + D, 2 + 2 * D};
    });
  };
  EXPECT_TRUE(Shaken(0x1p-31).finish().ok());
  EXPECT_THAT(Shaken(0x1p-29).finish().Message,
              HasSubstr("rounding alone moves out by"));
  // Noise about nothing but zeros.
  auto Zeros = modelOf({0.0, 0.0}, [&](unsigned I) {
    return std::vector<double>{I % 2 ? 1e-20 : -1e-20, 0};
  });
  EXPECT_EQ(Zeros.finish().Result, Outcome::NotVerifiable);
}

TEST(RoundingModel, ReplaysOfSomethingElseAreNotVerifiable) {
  auto Model = modelOf({1.0, 3.0}, [](unsigned I) {
    return std::vector<double>{1.0, 3.0 + 1e-12 + 1e-14 * (I % 2)};
  });
  EXPECT_THAT(Model.finish().Message,
              HasSubstr("out[1]: recorded 3, replays with random rounding give "
                        "3 on average,"));
}

TEST(RoundingModel, LargestAndSmallestNumbersKeepTheirSigma) {
  for (double Scale : {1e300, 1e-300}) {
    std::vector<double> Record{Scale, 2 * Scale};
    auto Model = modelOf(Record, [&](unsigned I) {
      const double D = I % 2 ? 1e-12 : -1e-12;
      return std::vector<double>{Scale * (1 + D), 2 * Scale * (1 - D)};
    });
    ASSERT_TRUE(Model.finish().ok()) << Scale;
    EXPECT_NEAR(sigmasOf(Model, Record, 0, Scale * 1e-11), 10, 1.5) << Scale;
  }
}

TEST(RoundingModel, OddBytesAtTheEndAreExact) {
  std::vector<uint8_t> Record = bytesOf(std::vector<double>{1.0});
  Record.push_back(7);
  auto Got = Record, Moved = Record;
  const double Other = 1 + DBL_EPSILON;
  std::memcpy(Moved.data(), &Other, sizeof(Other));
  RoundingModel Model(Out);
  for (unsigned I = 0; I < RoundingModel::Replays; ++I) {
    Model.beginReplay();
    Model.addChunk(chunk(Record, I % 2 ? Moved : Record));
  }
  ASSERT_TRUE(Model.finish().ok());
  Got.back() = 8;
  ToleranceCheck Check(Model);
  Check.addChunk(chunk(Record, Got));
  EXPECT_THAT(Check.verdict().Message, HasSubstr("a part of an element"));
}

TEST(Values, ExponentsAndUlps) {
  EXPECT_EQ(exponentOf(1.5, ValueType::F32), 0);
  EXPECT_EQ(exponentOf(0, ValueType::F32), -126);
  EXPECT_EQ(exponentOf(1e-40, ValueType::F32), -126);
  EXPECT_EQ(exponentOf(1e-40, ValueType::F64), -133);
  EXPECT_EQ(ulpOf(0, ValueType::F32), FLT_EPSILON);
  EXPECT_EQ(ulpOf(0, ValueType::F64), DBL_EPSILON);
  EXPECT_EQ(ulpOf(-1022, ValueType::F64), 4.9406564584124654e-324);
}

} // namespace
