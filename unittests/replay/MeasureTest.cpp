// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches, rates and floors over the fake device.
#include "Fixture.h"

#include "wrapper/replay/Batch.h"

#include "runtime/support/Files.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace r3;
using namespace r3::testing;
using ::testing::HasSubstr;

namespace {

class MeasureTest : public ReplayTest {
protected:
  static MeasurementReport measure(Worker &W, const Variant &Change,
                                   unsigned Batches,
                                   CacheMode Mode = CacheMode::Cold,
                                   uint64_t Seed = 3) {
    MeasurementRequest What;
    What.Change = Change;
    What.Batches = Batches;
    What.Mode = Mode;
    What.Seed = Seed;
    auto M = W.measure(What);
    EXPECT_TRUE(M) << M.error().message();
    return M ? *M : MeasurementReport();
  }
  /// A worker whose original's results are known to vary, or not.
  auto prepared(const std::string &Image, bool Stamped = false) {
    SaxpyOptions O;
    O.Image = Image;
    O.Stamped = Stamped;
    auto W = fakeWith(record(O));
    EXPECT_TRUE(W->prepare(0, 12));
    return W;
  }
};

TEST_F(MeasureTest, TheOriginalAgainstItself) {
  auto W = fakeWith(record({}));
  for (CacheMode Mode : {CacheMode::Cold, CacheMode::Warm}) {
    MeasurementReport M = measure(*W, Variant(), 5, Mode);
    EXPECT_EQ(M.Result, Outcome::Ok) << M.Message;
    EXPECT_EQ(M.Code, contentDigest("saxpy").hex());
    ASSERT_EQ(M.Batches.size(), 5u);
    for (const Batch &B : M.Batches) {
      EXPECT_GT(B.OriginalUs[0], 0);
      EXPECT_GT(B.VariantUs[1], 0);
      for (const ClockSample &C : {B.Before, B.After}) {
        EXPECT_EQ(C.SmMhz, 1980);
        EXPECT_EQ(C.MemoryMhz, 3201);
        EXPECT_EQ(C.Reasons, 4u);
      }
    }
    EXPECT_EQ(M.ClocksUnread, "");
  }
}

TEST_F(MeasureTest, ASlowerVariantIsSlowerInEachBatch) {
  auto W = fakeWith(record({}));
  MeasurementReport M = measure(*W, pipeline("slow"), 4);
  EXPECT_EQ(M.Result, Outcome::Ok) << M.Message;
  ASSERT_EQ(M.Batches.size(), 4u);
  for (const Batch &B : M.Batches)
    for (int I : {0, 1}) {
      EXPECT_GE(B.VariantUs[I], 3000);
      EXPECT_LT(B.OriginalUs[I], 3000);
    }
}

TEST_F(MeasureTest, VariantsThatAreWrongAreNotTimed) {
  auto W = fakeWith(record({}));
  MeasurementReport M = measure(*W, pipeline("wrong"), 4);
  EXPECT_EQ(M.Result, Outcome::Wrong);
  EXPECT_THAT(M.Message, HasSubstr("y[3]: expected 3.75, got 4.75"));
  EXPECT_TRUE(M.Batches.empty());
}

// The fifth and the sixth launch of a variant are in the first batch. Its order
// is drawn: the last result of a batch is compared as any other, of those
// before only digests are left.
TEST_F(MeasureTest, EachTimedResultIsChecked) {
  auto W = fakeWith(record({}));
  std::set<bool> WereLast;
  for (uint64_t Seed = 0; Seed < 16; ++Seed) {
    MeasurementRequest What;
    What.Change = pipeline("naps");
    What.Batches = 2;
    What.Seed = Seed;
    // There is nothing here that rounding could explain.
    What.Which = Seed % 2 ? Accept::Rounding : Accept::Bits;
    auto M = W->measure(What);
    ASSERT_TRUE(M) << M.error().message();
    EXPECT_EQ(M->Result, Outcome::Wrong) << M->Message;
    const bool WasLast = M->Message.find("y[1]: expected") != std::string::npos;
    WereLast.insert(WasLast);
    if (!WasLast) {
      EXPECT_THAT(M->Message, HasSubstr("a timed launch left other results"));
    }
    EXPECT_EQ(M->Batches.size(), 1u);
  }
  EXPECT_EQ(WereLast.size(), 2u);
  EXPECT_EQ(measure(*W, pipeline("saxpy"), 2).Result, Outcome::Ok);
}

TEST_F(MeasureTest, FaultsOfTimedLaunchesHaveNames) {
  auto W = fakeWith(record({}));
  EXPECT_EQ(measure(*W, pipeline("late"), 4).Result, Outcome::IllegalAccess);
  EXPECT_EQ(measure(*W, pipeline("crash"), 4).Result, Outcome::IllegalAccess);
  EXPECT_EQ(measure(*W, pipeline("unloadable"), 4).Result,
            Outcome::LaunchFailed);
  EXPECT_EQ(measure(*W, pipeline("saxpy"), 2).Result, Outcome::Ok);
}

TEST_F(MeasureTest, ResultsMayVaryWhereTheOriginalsDo) {
  auto W = prepared("noisy");
  MeasurementReport M = measure(*W, pipeline("noisy"), 6);
  EXPECT_EQ(M.Result, Outcome::Ok) << M.Message;
  EXPECT_EQ(M.Batches.size(), 6u);
}

// Results that vary are held against the last ones of their batch. The seventh
// launch is in the second batch, and never its last.
TEST_F(MeasureTest, EachTimedResultIsCheckedWhereResultsVary) {
  auto W = prepared("noisy");
  for (uint64_t Seed = 0; Seed < 8; ++Seed) { // either side may be the last
    MeasurementReport M =
        measure(*W, pipeline("lapses"), 6, CacheMode::Cold, Seed);
    EXPECT_EQ(M.Result, Outcome::Wrong);
    EXPECT_THAT(M.Message,
                HasSubstr("y: the results of two timed launches are about"));
    EXPECT_LE(M.Batches.size(), 2u);
  }
  MeasurementReport Honest = measure(*W, pipeline("noisy"), 200);
  EXPECT_EQ(Honest.Result, Outcome::Ok) << Honest.Message;
  EXPECT_EQ(Honest.Batches.size(), 200u);
}

// What is no floating point does not vary, where other results do.
TEST_F(MeasureTest, OtherBytesAreTheSameInEachTimedResult) {
  auto W = prepared("stamps", /*Stamped=*/true);
  MeasurementReport M = measure(*W, pipeline("stamps"), 6);
  EXPECT_EQ(M.Result, Outcome::Ok) << M.Message;
  M = measure(*W, pipeline("misstamps"), 6);
  EXPECT_EQ(M.Result, Outcome::Wrong);
  EXPECT_THAT(M.Message, HasSubstr("x, byte 0: a timed launch left other bytes "
                                   "than the last one"));
}

TEST_F(MeasureTest, ShortLaunchesAreBelowResolution) {
  SaxpyOptions O;
  O.N = 16;
  auto W = fakeWith(record(O));
  MeasurementReport M = measure(*W, Variant(), 3);
  EXPECT_EQ(M.Result, Outcome::BelowResolution);
  EXPECT_THAT(M.Message, HasSubstr("too short to be timed"));
  EXPECT_EQ(M.EmptyUs.size(), 32u);
  EXPECT_EQ(M.Batches.size(), 3u);
  EXPECT_EQ(M.SubtractUs, 0);
}

TEST_F(MeasureTest, SymbolicWordsPointIntoTheCodeThatRuns) {
  auto W = fakeWith(recordFollow());
  MeasurementReport M = measure(*W, pipeline("follow"), 4, CacheMode::Warm);
  EXPECT_EQ(M.Result, Outcome::BelowResolution) << M.Message;
  EXPECT_EQ(M.Batches.size(), 4u);
}

TEST_F(MeasureTest, MemoryThatDoesNotFitTwiceIsNotTimed) {
  auto W = startFake("fake-small");
  ASSERT_TRUE(W) << W.error().message();
  SaxpyOptions O;
  O.N = 250000;
  Error E = (*W)->load({record(O), record({})});
  ASSERT_FALSE(E) << E.message();
  MeasurementReport M = measure(**W, pipeline("saxpy"), 2);
  EXPECT_EQ(M.Result, Outcome::OutOfMemory);
  EXPECT_THAT(M.Message, HasSubstr("does not hold the recordings twice"));
}

TEST_F(MeasureTest, SenselessRequestsAreErrors) {
  auto W = fakeWith(record({}));
  MeasurementRequest What;
  EXPECT_EQ(W->measure(What).error().code(), ErrorCode::Usage);
  What.Batches = MostBatches + 1;
  EXPECT_EQ(W->measure(What).error().code(), ErrorCode::Usage);
  What.Batches = 1;
  What.Recording = 1;
  EXPECT_EQ(W->measure(What).error().code(), ErrorCode::Usage);
  What.Recording = 0;
  EXPECT_TRUE(W->measure(What));
}

TEST_F(MeasureTest, RatesAreMeasuredOnce) {
  auto W = startFake();
  ASSERT_TRUE(W) << W.error().message();
  auto Rates = (*W)->rates();
  ASSERT_TRUE(Rates) << Rates.error().message();
  const double Memory = double(4 << 20) / 1000;
  EXPECT_GT(Rates->MemoryBytesPerUs, Memory / 2);
  EXPECT_LE(Rates->MemoryBytesPerUs, Memory * 1.1);
  EXPECT_GT(Rates->L2BytesPerUs, Memory);
  EXPECT_LE(Rates->L2BytesPerUs, 2 * Memory * 1.1);
  EXPECT_GE(Rates->EmptyLaunchUs, 0);
  EXPECT_EQ(Rates->FloatFlopsPerUs, 0); // it has no such work
  auto Again = (*W)->rates();
  ASSERT_TRUE(Again);
  EXPECT_EQ(Again->MemoryBytesPerUs, Rates->MemoryBytesPerUs);
  // Nothing is traced on the fake device, so no floor is known.
  ASSERT_FALSE((*W)->load({record({})}));
  auto P = (*W)->prepare(0, 1);
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Floor.ColdUs, 0);
}

TEST_F(MeasureTest, RepliesThatLackATimeAreDamaged) {
  for (const char *Rule : {"whole=x", "torn=x"}) {
    WorkerOptions O;
    O.StorePath = TheStore->path();
    O.Launcher = {R3_TEST_MADE_UP, Rule};
    auto W = Worker::start(O);
    ASSERT_TRUE(W) << W.error().message();
    MeasurementRequest What;
    What.Batches = 2;
    auto M = (*W)->measure(What);
    EXPECT_EQ(bool(M), *Rule == 'w');
    if (M) {
      EXPECT_EQ(M->Batches[1].OriginalUs[1], 1001);
      EXPECT_EQ(M->Batches[1].VariantUs[1], 1001);
      EXPECT_EQ(M->Batches[0].VariantUs[0], 1000);
      continue;
    }
    EXPECT_EQ(M.error().code(), ErrorCode::Damaged);
    EXPECT_THAT(M.error().message(), HasSubstr("variantUs"));
    EXPECT_FALSE((*W)->isLost());
  }
}

TEST(Batch, SurvivesTheWireAndRefusesTheCutOne) {
  replay::BatchRequest R;
  R.Launch = 7;
  R.Slots = {"original", "variant"};
  R.PoisonBytes = {0xff, 0x5b};
  R.Mode = CacheMode::Warm;
  R.Flushes = false;
  R.Where.List = {{1, 16, 4, 8, 3}};
  R.Restored.append({1, 5});
  R.Digested.append({2, 9});
  R.Sketched = {ValueType::Bytes, ValueType::F32};
  R.SketchSeed = 0xfedcba9876543210;
  auto Header = json::parse(R.json(), "batch");
  ASSERT_TRUE(Header);
  std::vector<uint8_t> Blob = R.blob();
  auto Back = replay::BatchRequest::parse(*Header, Blob);
  ASSERT_TRUE(Back) << Back.error().message();
  EXPECT_EQ(Back->json(), R.json());
  EXPECT_EQ(Back->blob(), Blob);
  Blob.back() = 77; // a type without sketches
  EXPECT_FALSE(replay::BatchRequest::parse(*Header, Blob));
  for (size_t Size = 0; Size < Blob.size(); ++Size)
    EXPECT_FALSE(
        replay::BatchRequest::parse(*Header, std::span(Blob).first(Size)))
        << Size;
}

TEST(Batch, FillsTheSmallestGaps) {
  IntervalSet Set;
  for (Interval I : {Interval{0, 1}, {2, 3}, {10, 11}, {15, 16}, {100, 101}})
    Set.append(I);
  EXPECT_EQ(replay::coarsened(Set, 5), Set);
  EXPECT_EQ(replay::coarsened(Set, 3).intervals(),
            (std::vector<Interval>{{0, 3}, {10, 16}, {100, 101}}));
  EXPECT_EQ(replay::coarsened(Set, 1).intervals(),
            (std::vector<Interval>{{0, 101}}));
}

} // namespace
