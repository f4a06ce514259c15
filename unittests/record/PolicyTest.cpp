// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/record/Policy.h"

#include <gtest/gtest.h>

#include <map>

using namespace r3::record;

namespace {

bool always(uint64_t) { return true; }

/// Runs Launches of one class; the launches that stay at the end.
std::vector<uint64_t> keptOf(Policy &P, uint64_t Launches,
                             const std::string &Class = "a",
                             bool Changes(uint64_t Launch) = always,
                             unsigned *Records = nullptr) {
  std::map<uint32_t, uint64_t> Slots;
  for (uint64_t I = 0; I < Launches; ++I) {
    auto C = P.next(std::hash<std::string>()(Class), [&] { return Class; });
    if (!C.Record)
      continue;
    if (Records)
      ++*Records;
    if (P.keep(C, Changes(I)))
      Slots[C.Slot] = I;
  }
  std::vector<uint64_t> Out;
  for (auto [Slot, Launch] : Slots)
    Out.push_back(Launch);
  return Out;
}

TEST(Policy, KeepsTheFirstAndOneOfTheRest) {
  // Slot 1 is uniform over launches 1..100: the mean of many runs tells.
  double Sum = 0;
  constexpr unsigned Runs = 400;
  for (unsigned Seed = 0; Seed < Runs; ++Seed) {
    Policy P({}, Seed);
    std::vector<uint64_t> Kept = keptOf(P, 101);
    ASSERT_EQ(Kept.size(), 2u);
    EXPECT_EQ(Kept[0], 0u);
    Sum += double(Kept[1]);
  }
  EXPECT_NEAR(Sum / Runs, 50.5, 6);
}

TEST(Policy, SkipsFirstLaunches) {
  PolicyOptions O;
  O.Skip = 10;
  Policy P(O, 1);
  EXPECT_EQ(keptOf(P, 30)[0], 10u);
}

TEST(Policy, OneLaunchOfEachClass) {
  PolicyOptions O;
  O.Count = 1;
  Policy P(O, 1);
  EXPECT_EQ(keptOf(P, 1000), std::vector<uint64_t>{0});
}

TEST(Policy, LaunchesThatChangeNothingGiveWay) {
  for (uint64_t Count : {1, 2, 3}) {
    PolicyOptions O;
    O.Count = Count;
    Policy P(O, 1);
    auto Kept = keptOf(P, 200, "a", [](uint64_t I) { return I >= 100; });
    ASSERT_EQ(Kept.size(), Count);
    for (uint64_t Launch : Kept)
      EXPECT_GE(Launch, 100u);
  }
}

TEST(Policy, LaunchesThatChangeNothingTakeNoOnesPlace) {
  unsigned Records = 0;
  Policy Never({}, 1);
  EXPECT_EQ(keptOf(
                Never, 1000, "a", [](uint64_t) { return false; }, &Records),
            (std::vector<uint64_t>{0, 1}));
  // Two, one in 64, and the reservoir's.
  EXPECT_GT(Records, 15u);
  EXPECT_LT(Records, 50u);
  for (unsigned Seed = 0; Seed < 20; ++Seed) {
    Policy Early({}, Seed);
    auto Kept = keptOf(Early, 1000, "a", [](uint64_t I) { return I < 5; });
    ASSERT_EQ(Kept.size(), 2u);
    EXPECT_EQ(Kept[0], 0u);
    EXPECT_LT(Kept[1], 5u);
  }
}

TEST(Policy, FirstClassesOnly) {
  Policy P({}, 1);
  for (const char *Class : {"a", "b", "c"})
    EXPECT_EQ(keptOf(P, 2, Class).size(), 2u);
  EXPECT_TRUE(keptOf(P, 50, "d").empty());
}

TEST(Policy, NothingOfUnwantedKernelsButTimes) {
  PolicyOptions O;
  O.Wanted = false;
  Policy P(O, 1);
  auto C = P.next(0, [] { return std::string("a"); });
  EXPECT_TRUE(C.Sample);
  EXPECT_FALSE(C.Record);
}

TEST(Policy, SamplesFewOfManyLaunches) {
  Policy P({}, 1);
  unsigned Samples = 0;
  for (unsigned I = 0; I < 64000; ++I)
    Samples += P.next(0, [] { return std::string("a"); }).Sample;
  EXPECT_GT(Samples, 700u);
  EXPECT_LT(Samples, 1300u);
}

TEST(Policy, TriesAgainAfterADrop) {
  Policy P({}, 1);
  auto Class = [] { return std::string("a"); };
  auto C = P.next(0, Class);
  P.dropped(C);
  C = P.next(0, Class);
  EXPECT_TRUE(C.Record);
  EXPECT_EQ(C.Slot, 0u);
  P.dropped(C);
  P.dropped(P.next(0, Class));
  EXPECT_FALSE(P.next(0, Class).Record) << "three failures in a row";
}

TEST(Policy, AsksForTheClassOnce) {
  Policy P({}, 1);
  unsigned Asked = 0;
  for (unsigned I = 0; I < 100; ++I)
    P.next(7, [&] {
      ++Asked;
      return std::string("a");
    });
  EXPECT_EQ(Asked, 1u);
}

} // namespace
