// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/DeltaDebugging.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace r3;

namespace {

using Set = std::vector<size_t>;

bool contains(const Set &All, const Set &Some) {
  return std::includes(All.begin(), All.end(), Some.begin(), Some.end());
}

TEST(DeltaDebugging, FindsWhatIsNeeded) {
  for (const Set &Needed : {Set{}, Set{0}, Set{7}, Set{3, 4}, Set{0, 7},
                            Set{0, 2, 5, 7}, Set{0, 1, 2, 3, 4, 5, 6, 7}}) {
    auto Found = minimiseSet(8, [&](const Set &S) -> Expected<bool> {
      EXPECT_LT(S.size(), 8u); // the whole is known to hold
      return contains(S, Needed);
    });
    ASSERT_TRUE(Found);
    EXPECT_EQ(*Found, Needed);
  }
}

/// Where several subsets hold: of the one that is found no element can go.
TEST(DeltaDebugging, FindsASetOfWhichNoneCanGo) {
  std::mt19937_64 Dice(7);
  for (int Try = 0; Try < 100; ++Try) {
    const size_t Count = 1 + Dice() % 20;
    std::vector<Set> Enough(1 + Dice() % 3);
    for (Set &S : Enough)
      for (size_t I = 0; I < Count; ++I)
        if (Dice() % 3 == 0)
          S.push_back(I);
    const auto holds = [&](const Set &S) {
      return std::any_of(Enough.begin(), Enough.end(),
                         [&](const Set &E) { return contains(S, E); });
    };
    size_t Asked = 0;
    auto Found = minimiseSet(Count, [&](const Set &S) -> Expected<bool> {
      EXPECT_TRUE(std::is_sorted(S.begin(), S.end()));
      ++Asked;
      return holds(S);
    });
    ASSERT_TRUE(Found);
    EXPECT_TRUE(holds(*Found));
    for (size_t I = 0; I < Found->size(); ++I) {
      Set Less = *Found;
      Less.erase(Less.begin() + long(I));
      EXPECT_FALSE(holds(Less));
    }
    // The bound of the paper.
    EXPECT_LE(Asked, Count * Count + 3 * Count + 1);
  }
}

TEST(DeltaDebugging, GivesTheSmallestSoFarWhereItIsStopped) {
  Set Best;
  size_t Left = 3;
  auto Found = minimiseSet(
      16,
      [&](const Set &S) -> Expected<bool> {
        if (!Left--)
          return Error(ErrorCode::Interrupted, "stopped");
        return contains(S, {1});
      },
      &Best);
  EXPECT_FALSE(Found);
  EXPECT_TRUE(contains(Best, {1}));
  EXPECT_LT(Best.size(), 16u);
}

} // namespace
