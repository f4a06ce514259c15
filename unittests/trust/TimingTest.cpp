// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which batches count, what they say, and what is too short or implausible.
#include "wrapper/trust/Timing.h"
#include "wrapper/trust/MedianBound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace r3;
using namespace r3::trust;
using testing::HasSubstr;

namespace {

Batch steady(double SmMhz = 1980) {
  Batch B;
  B.Before = B.After = {SmMhz, 3201, 0};
  B.OriginalUs = {100, 102};
  B.VariantUs = {50, 51};
  return B;
}

TEST(Timing, BatchWhoseClockChangesIsDropped) {
  std::vector<Batch> All(5, steady());
  EXPECT_EQ(steadyBatches(All).size(), 5u);
  All[1].After.SmMhz = 1980 * 0.989;
  All[2].Before.SmMhz = 1980 * 0.991;
  All[3].After.MemoryMhz = 2600;
  EXPECT_EQ(steadyBatches(All).size(), 3u);
}

TEST(Timing, BatchFarFromTheUsualClockIsDropped) {
  std::vector<Batch> All(5, steady());
  All[4] = steady(1755);
  ASSERT_EQ(steadyBatches(All).size(), 4u);
  EXPECT_EQ(steadyBatches(All)[3].Before.SmMhz, 1980);
  // Each pair of the three readings must agree.
  const double Readings[][2] = {{0.988, 0.992}, {0.992, 0.988}, {0.994, 1.006}};
  for (const auto &[Before, After] : Readings) {
    All[4].Before.SmMhz = 1980 * Before;
    All[4].After.SmMhz = 1980 * After;
    EXPECT_EQ(steadyBatches(All).size(), 4u) << Before;
  }
}

TEST(Timing, ThrottledBatchesAreDroppedAndDoNotSetTheUsualClock) {
  std::vector<Batch> All(5, steady(1200));
  for (size_t I = 0; I < 3; ++I)
    All[I].After.Reasons = 0x20;
  All[3] = All[4] = steady();
  EXPECT_EQ(steadyBatches(All).size(), 2u);
  for (uint64_t Harmless : {0x1, 0x2, 0x10, 0x100}) {
    All[4].Before.Reasons = Harmless;
    EXPECT_EQ(steadyBatches(All).size(), 2u) << Harmless;
  }
  for (uint64_t Slow : {0x4, 0x8, 0x20, 0x40, 0x80}) {
    All[4].Before.Reasons = Slow;
    EXPECT_EQ(steadyBatches(All).size(), 1u) << Slow;
  }
  for (Batch &B : All)
    B.Before.Reasons = 0x4;
  EXPECT_TRUE(steadyBatches(All).empty());
}

TEST(Timing, ClocksThatCannotBeReadDropNothing) {
  std::vector<Batch> All(3, steady());
  for (Batch &B : All)
    B.Before = B.After = {};
  EXPECT_EQ(steadyBatches(All).size(), 3u);
  All[0].After.SmMhz = 1980;
  EXPECT_EQ(steadyBatches(All).size(), 2u);
}

TEST(Timing, RatioIsOfBothTimesLessAnEmptyKernels) {
  EXPECT_DOUBLE_EQ(batchRatio(steady(), 0), 2);
  EXPECT_DOUBLE_EQ(batchRatio(steady(), 5), 192.0 / 91);
}

TEST(Timing, ShortLaunchesNeedAnEmptyKernelThatIsSteady) {
  const std::vector<double> Empty{4.9, 5.0, 5.0, 5.1, 5.0};
  EXPECT_TRUE(resolve(20, {}).Result.ok());
  EXPECT_EQ(resolve(20, Empty).SubtractUs, 0);
  EXPECT_EQ(resolve(19.9, {}).Result.Result, Outcome::BelowResolution);
  EXPECT_TRUE(resolve(6.1, Empty).Result.ok());
  EXPECT_EQ(resolve(6.1, Empty).SubtractUs, 5.0);
  const Judgement Low = resolve(5.9, Empty).Result;
  EXPECT_EQ(Low.Result, Outcome::BelowResolution);
  EXPECT_THAT(Low.Message, HasSubstr("5.90 us, of which an empty kernel takes "
                                     "5.00 us (spread 0.20 us)"));
  const std::vector<double> Noisy{3, 4, 5, 6, 7};
  EXPECT_FALSE(resolve(19.9, Noisy).Result.ok());
  EXPECT_FALSE(resolve(4, Empty).Result.ok());
  const std::vector<double> Still{5, 5, 5};
  EXPECT_TRUE(resolve(6, Still).Result.ok());
  EXPECT_FALSE(resolve(5.9, Still).Result.ok());
}

TEST(Timing, AnErrorOfASpreadChangesAGainByAFifthAtMost) {
  const std::vector<double> Empty{4.8, 5.0, 5.2};
  for (double Variant : {7.01, 8.0, 15.0})
    for (double Original : {7.2, 10.0, 30.0}) {
      if (Original < Variant)
        continue;
      Batch B;
      B.OriginalUs = {Original, Original};
      B.VariantUs = {Variant, Variant};
      const Resolution R = resolve(Variant, Empty);
      ASSERT_TRUE(R.Result.ok());
      const double Gain = batchRatio(B, R.SubtractUs) - 1;
      for (double Error : {-0.4, 0.4}) {
        const double Other = batchRatio(B, R.SubtractUs + Error) - 1;
        EXPECT_LE(std::fabs(Other - Gain), Other * 0.2 + 1e-12);
        EXPECT_GT(Other, 0);
      }
    }
}

TEST(Timing, HostAndEventsMustAgree) {
  EXPECT_EQ(compareWithHost(100, 130, 6), "");
  EXPECT_EQ(compareWithHost(100, 80, 4), "");
  EXPECT_NE(compareWithHost(100, 132, 6), "");
  EXPECT_NE(compareWithHost(100, 78, 4), "");
  EXPECT_EQ(compareWithHost(10000, 10515, 0), "");
  EXPECT_EQ(compareWithHost(10000, 10525, 0),
            "the device's events say 10000.0 us, the host 10525.0 us");
}

TEST(Timing, ModeIsTheOneNearestToTheProgram) {
  EXPECT_EQ(chooseMode(100, 110, 60).Mode, CacheMode::Cold);
  EXPECT_EQ(chooseMode(100, 150, 90).Mode, CacheMode::Warm);
  // 200 and 50 are equally far; 49 is farther than 200.
  EXPECT_EQ(chooseMode(100, 200, 49).Mode, CacheMode::Cold);
  EXPECT_EQ(chooseMode(100, 125, 20).Warning, "");
  EXPECT_EQ(chooseMode(100, 300, 75).Warning, "");
  EXPECT_EQ(chooseMode(100, 126, 20).Warning,
            "replay time not representative: 100.0 us in the program, 126.0 us "
            "replayed with a cold cache, 20.0 us with a warm one");
  EXPECT_NE(chooseMode(100, 300, 74).Warning, "");
}

IntervalSet set(std::vector<Interval> List) {
  IntervalSet Result;
  for (Interval I : List)
    Result.append(I);
  return Result;
}

TEST(Floor, SectorsCountOnce) {
  EXPECT_EQ(bytesInSectors({}), 0u);
  EXPECT_EQ(bytesInSectors(set({{0, 1}})), 32u);
  EXPECT_EQ(bytesInSectors(set({{0, 32}})), 32u);
  EXPECT_EQ(bytesInSectors(set({{31, 33}})), 64u);
  EXPECT_EQ(bytesInSectors(set({{0, 4}, {8, 12}, {28, 40}, {60, 64}})), 64u);
  EXPECT_EQ(bytesInSectors(set({{0, 4}, {96, 100}})), 64u);
}

const RatesReport H{5, 4.5e6, 9e6, 30e6, 15e6, 60e6, 60'000'000};

TEST(Floor, LongestOfMemoryCacheAndArithmeticAfterAnEmptyLaunch) {
  EXPECT_DOUBLE_EQ(floorOf({}, H, CacheMode::Cold).Us, 5);
  // 90 MB cold: 20 us from memory, 10 us through L2.
  EXPECT_DOUBLE_EQ(floorOf({90'000'000, 0, 0}, H, CacheMode::Cold).Us, 25);
  // Warm: L2 holds 60 MB, so memory needs 6.7 us.
  EXPECT_DOUBLE_EQ(floorOf({90'000'000, 0, 0}, H, CacheMode::Warm).Us, 15);
  // Written bytes may stay in L2.
  EXPECT_DOUBLE_EQ(floorOf({0, 45'000'000, 0}, H, CacheMode::Cold).Us, 10);
  EXPECT_DOUBLE_EQ(floorOf({0, 240'000'000, 0}, H, CacheMode::Cold).Us, 45);
  const uint64_t Many = 3'000'000'000;
  for (auto [Counted, Us] : {std::pair(Operations{Many, 0, 0}, 105),
                             {{0, Many, 0}, 205},
                             {{0, 0, Many}, 55},
                             {{Many, Many, Many}, 205},
                             {{Many / 10, 0, 0}, 25}})
    EXPECT_DOUBLE_EQ(floorOf({90'000'000, 0, Counted}, H, CacheMode::Cold).Us,
                     Us);
  RatesReport Unknown;
  Unknown.EmptyLaunchUs = 5;
  EXPECT_DOUBLE_EQ(floorOf({1u << 30, 1u << 30, {Many, Many, Many}}, Unknown,
                           CacheMode::Cold)
                       .Us,
                   5);
}

TEST(Floor, SaysWhatBoundsIt) {
  const uint64_t Many = 3'000'000'000;
  for (const auto &[Launch, By] :
       {std::pair(Work{}, "an empty launch"),
        {{90'000'000, 0, {}}, "memory"},
        {{0, 45'000'000, {}}, "the L2 cache"},
        {{90'000'000, 0, {Many, 0, 0}}, "float arithmetic"},
        {{90'000'000, 0, {0, Many, 0}}, "double arithmetic"},
        {{90'000'000, 0, {0, 0, Many}}, "half arithmetic"}})
    EXPECT_STREQ(floorOf(Launch, H, CacheMode::Cold).By, By);
  EXPECT_STREQ(floorOf({45'000'000, 0, {}}, H, CacheMode::Warm).By,
               "the L2 cache");
}

TEST(Floor, NineTenthsAreAFlag) {
  EXPECT_TRUE(isBelowFloor(89, 100));
  EXPECT_FALSE(isBelowFloor(91, 100));
}

} // namespace
