// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rule of Verdict.h by planted results that it must reject and honest
// ones that it must accept.
#include "wrapper/trust/Verdict.h"
#include "wrapper/trust/Values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

using namespace r3;
using namespace r3::trust;
using testing::HasSubstr;

namespace {

template <typename T> std::vector<uint8_t> bytes(std::vector<T> Values) {
  std::vector<uint8_t> Result(Values.size() * sizeof(T));
  std::memcpy(Result.data(), Values.data(), Result.size());
  return Result;
}

using Raw = std::vector<uint8_t>;

DifferingChunk chunk(const Raw &Before, const Raw &Expected, const Raw &Got,
                     size_t Buffer = 0, uint64_t Offset = 0) {
  return {Buffer, Offset, Before, Expected, Got};
}

Buffer buffer(ValueType Type) { return {"out", 0x1000, 1 << 20, Type}; }

/// A baseline of replays that all differ from the record.
struct Original {
  Raw Before, Record;
  Baseline Base;
  Judgement Result;

  Original(ValueType Type, Raw Before, Raw Record, std::vector<Raw> Replays)
      : Before(std::move(Before)), Record(std::move(Record)),
        Base({buffer(Type)}, "try again") {
    for (const Raw &Replay : Replays) {
      Base.beginReplay();
      if (Replay != this->Record)
        Base.addChunk(chunk(this->Before, this->Record, Replay));
      Base.endReplay();
    }
    Result = Base.finish();
  }

  Judgement judge(const Raw &Got, double CloseTo = 0) const {
    VariantCheck Check(Base, CloseTo);
    if (Got != Record)
      Check.addChunk(chunk(Before, Record, Got));
    return Check.verdict();
  }
};

const Raw Zeros = bytes<float>({0, 0, 0, 0});
const float Step = 0x1p-20f;

Original noisyFloats() {
  return {ValueType::F32,
          bytes<float>({0, 0, 0, 7}),
          bytes<float>({1, 1, 1, 7}),
          {bytes<float>({1 + Step, 1, 1, 7}), bytes<float>({1, 1, 1, 7}),
           bytes<float>({1 - Step, 1, 1, 7})}};
}

TEST(Verdict, DifferingNamesEachIndexAndWhatIsMissing) {
  Digest A{1, 2}, B{3, 4};
  std::vector<Digest> Expected{A, A, B}, Got{A, B};
  EXPECT_EQ(differing(Expected, Got), (std::vector<size_t>{1, 2}));
  EXPECT_TRUE(differing(Expected, Expected).empty());
}

TEST(Verdict, ALaunchThatChangesNothingIsNoEvidence) {
  Recording R;
  RecordedAllocation A;
  A.Size = 8;
  A.Before = {Digest{1, 1}};
  R.Allocations.push_back(A);
  EXPECT_EQ(judgeEvidence(R, 0).Result, Outcome::NotVerifiable);
  R.Allocations[0].After = {{0, Digest{1, 1}}};
  EXPECT_EQ(judgeEvidence(R, 0).Result, Outcome::NotVerifiable);
  R.Allocations[0].After = {{0, Digest{1, 2}}};
  EXPECT_TRUE(judgeEvidence(R, 0).ok());
  R.Allocations[0].After.clear();
  EXPECT_TRUE(judgeEvidence(R, /*PoisonedBytes=*/1).ok());
}

TEST(Verdict, ExactOriginalAcceptsOnlyEqualBits) {
  Raw Record = bytes<float>({1, 2, 3, 4});
  Original O(ValueType::F32, Zeros, Record, {Record, Record});
  EXPECT_TRUE(O.Result.ok());
  EXPECT_TRUE(O.Base.bitExact());
  EXPECT_TRUE(O.judge(Record).ok());
  Judgement J = O.judge(bytes<float>({1, 2, 3 + Step * 2, 4}));
  EXPECT_EQ(J.Result, Outcome::Wrong);
  EXPECT_THAT(J.Message, HasSubstr("out[2]: expected 3, got 3.0000019"));
  EXPECT_THAT(J.Message, HasSubstr("(1 wrong element)"));
}

TEST(Verdict, ExactMeansBitsNotValues) {
  Raw Record = bytes<float>({0.0f, 2, 3, 4});
  Original O(ValueType::F32, bytes<float>({5, 0, 0, 0}), Record, {Record});
  EXPECT_EQ(O.judge(bytes<float>({-0.0f, 2, 3, 4})).Result, Outcome::Wrong);
}

TEST(Verdict, IntegersThatDifferBetweenReplaysAreNotVerifiable) {
  Original O(ValueType::I32, bytes<int>({0, 0}), bytes<int>({5, 6}),
             {bytes<int>({5, 6}), bytes<int>({6, 5})});
  EXPECT_EQ(O.Result.Result, Outcome::NotVerifiable);
  EXPECT_THAT(O.Result.Message, HasSubstr("out[0]: expected 5, got 6"));
  EXPECT_FALSE(O.Base.bitExact());
  EXPECT_EQ(O.Base.noise()[0].ChangedBytes, 8u);
}

TEST(Verdict, SpreadOfFloatsIsMeasured) {
  Original O = noisyFloats();
  EXPECT_TRUE(O.Result.ok()) << O.Result.Message;
  EXPECT_FALSE(O.Base.bitExact());
  EXPECT_DOUBLE_EQ(O.Base.noise()[0].Spread, 2.0 * Step);
  EXPECT_EQ(O.Base.noise()[0].ChangedBytes, 4u);
  EXPECT_NEAR(O.Base.noise()[0].Rms, 3.605551, 1e-5);
}

TEST(Verdict, VariantMayDifferByTwiceTheSpread) {
  Original O = noisyFloats();
  EXPECT_TRUE(O.judge(bytes<float>({1, 1 + 4 * Step, 1, 7})).ok());
  EXPECT_EQ(O.judge(bytes<float>({1, 1 + 5 * Step, 1, 7})).Result,
            Outcome::Wrong);
}

TEST(Verdict, AUserMayAllowMoreForNumbersThatWereChanged) {
  Raw Record = bytes<float>({1000, 2, 0, 7});
  Original O(ValueType::F32, bytes<float>({0, 0, 1, 7}), Record, {Record});
  EXPECT_TRUE(O.judge(bytes<float>({1001, 2, 0, 7}), 1e-3).ok());
  EXPECT_TRUE(O.judge(bytes<float>({1000, 2, 0.0009f, 7}), 1e-3).ok());
  EXPECT_FALSE(O.judge(bytes<float>({1001.1f, 2, 0, 7}), 1e-3).ok());
  EXPECT_FALSE(O.judge(bytes<float>({1000, 2, 0, 7.001f}), 1e-3).ok());
  EXPECT_FALSE(O.judge(bytes<float>({1000, std::nanf(""), 0, 7}), 1e-3).ok());
  Raw Counts = bytes<int>({1000, 1000});
  Original I(ValueType::I32, bytes<int>({0, 0}), Counts, {Counts});
  EXPECT_FALSE(I.judge(bytes<int>({1000, 1001}), 1e-3).ok());
}

TEST(Verdict, ElementsThatTheOriginalLeavesAloneStayExact) {
  Original O = noisyFloats();
  EXPECT_EQ(O.judge(bytes<float>({1, 1, 1, 7 + 2 * Step})).Result,
            Outcome::Wrong);
}

TEST(Verdict, NanInfinityAndDenormalsHaveNoTolerance) {
  Original O = noisyFloats();
  for (float Bad : {std::numeric_limits<float>::quiet_NaN(),
                    std::numeric_limits<float>::infinity(), 1e-42f})
    EXPECT_EQ(O.judge(bytes<float>({Bad, 1, 1, 7})).Result, Outcome::Wrong)
        << Bad;
  // A denormal near a changed zero may be a small integer.
  Original Zero(
      ValueType::F32, bytes<float>({0, 5, 0, 0}), bytes<float>({1, 0, 1, 1}),
      {bytes<float>({1 + Step, 0, 1, 1}), bytes<float>({1, 0, 1, 1})});
  ASSERT_TRUE(Zero.Result.ok()) << Zero.Result.Message;
  EXPECT_TRUE(Zero.judge(bytes<float>({1, Step, 1, 1})).ok());
  EXPECT_EQ(Zero.judge(bytes<float>({1, 1e-42f, 1, 1})).Result, Outcome::Wrong);
}

TEST(Verdict, NanInTheRecordIsNoWildcard) {
  float Nan = std::numeric_limits<float>::quiet_NaN();
  Raw Record = bytes<float>({1, Nan, 1, 7});
  Original O(ValueType::F32, Zeros, Record,
             {bytes<float>({1 + Step, Nan, 1, 7}), Record});
  EXPECT_TRUE(O.Result.ok()) << O.Result.Message;
  EXPECT_TRUE(O.judge(Record).ok());
  EXPECT_EQ(O.judge(bytes<float>({1, 5, 1, 7})).Result, Outcome::Wrong);
}

TEST(Verdict, ReplaysThatAgreeButNotWithTheProgramAreNotVerifiable) {
  Raw Replay = bytes<float>({2, 1, 1, 1});
  Original O(ValueType::F32, Zeros, bytes<float>({1, 1, 1, 1}),
             {Replay, Replay, Replay});
  EXPECT_EQ(O.Result.Result, Outcome::NotVerifiable);
  EXPECT_EQ(O.Result.Message,
            "replay differs from the program: the recorded values of out lie "
            "outside the spread of the replays; next: try again");
}

TEST(Verdict, TooMuchNoiseIsNotVerifiable) {
  Original O(ValueType::F64, bytes<double>({0, 0}), bytes<double>({1, 1}),
             {bytes<double>({1 + 0x1p-28, 1}), bytes<double>({1, 1})});
  EXPECT_EQ(O.Result.Result, Outcome::NotVerifiable);
  EXPECT_THAT(O.Result.Message, HasSubstr("of its RMS"));
}

TEST(Verdict, ChunkThatFirstDiffersLateCountsTheEarlierReplays) {
  Original O(ValueType::F32, Zeros, bytes<float>({1, 1, 1, 1}),
             {bytes<float>({1, 1, 1, 1}), bytes<float>({1 + Step, 1, 1, 1})});
  EXPECT_TRUE(O.Result.ok()) << O.Result.Message;
  EXPECT_DOUBLE_EQ(O.Base.noise()[0].Spread, Step);
}

TEST(Verdict, FirstWrongElementIsTheLowestWhateverTheOrder) {
  Raw Record = bytes<int>({1, 2}), Wrong = bytes<int>({1, 9});
  Baseline Base({buffer(ValueType::I32)});
  Base.beginReplay();
  Base.endReplay();
  ASSERT_TRUE(Base.finish().ok());
  VariantCheck Check(Base);
  Check.addChunk(chunk(Record, Record, Wrong, 0, r3::ChunkBytes));
  Check.addChunk(chunk(Record, Record, Wrong, 0, 0));
  EXPECT_THAT(Check.verdict().Message, HasSubstr("out[1]: expected 2, got 9"));
  EXPECT_THAT(Check.verdict().Message, HasSubstr("(2 wrong elements)"));
}

TEST(Verdict, BuffersMayBeLargerThanFourGigabytes) {
  const uint64_t Far = 20000 * r3::ChunkBytes; // more than 2^32
  Raw Record = bytes<float>({0, 1}), Wrong = bytes<float>({0, 2});
  for (const Raw &Got : {Record, Wrong}) {
    Baseline Base({{"out", 0x1000, 8ull << 30, ValueType::F32}});
    Base.beginReplay();
    Base.endReplay();
    ASSERT_TRUE(Base.finish().ok());
    VariantCheck Check(Base);
    if (Got != Record)
      Check.addChunk(chunk(Record, Record, Got, 0, Far));
    EXPECT_EQ(Check.verdict().ok(), Got == Record);
    EXPECT_THAT(
        Check.verdict().Message,
        HasSubstr(Got == Record ? "" : "out[1310720001]: expected 1, got 2"));
  }
}

TEST(Verdict, ShortElementAtTheEndIsCompared) {
  Raw Record = bytes<float>({1, 1});
  Record.push_back(3);
  Raw Wrong = Record;
  Wrong.back() = 4;
  Original O(ValueType::F32, Record, Record, {Record});
  EXPECT_EQ(O.judge(Wrong).Result, Outcome::Wrong);
}

TEST(Values, TextFollowsTheType) {
  EXPECT_EQ(textAt(bytes<double>({0.5}), 0, ValueType::F64), "0.5");
  EXPECT_EQ(textAt(bytes<int64_t>({-3}), 0, ValueType::I64), "-3");
  EXPECT_EQ(textAt(bytes<uint8_t>({0x7f}), 0, ValueType::Bytes), "0x7f");
  EXPECT_EQ(textAt(bytes<uint64_t>({0xdead0}), 0, ValueType::Pointer),
            "0xdead0");
}

} // namespace
