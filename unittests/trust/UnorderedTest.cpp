// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Unordered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace {

using Bytes = std::vector<uint8_t>;

Bytes sorted(Bytes Of, uint64_t Size) {
  r3::trust::sortRecords(Of, Size);
  return Of;
}

/// Records of few different values, so that some are equal.
Bytes records(std::mt19937 &Random, size_t Count, uint64_t Size) {
  Bytes Made(Count * Size);
  for (uint8_t &Byte : Made)
    Byte = Random() % 3;
  return Made;
}

class UnorderedTest : public ::testing::TestWithParam<uint64_t> {
protected:
  const uint64_t Size = GetParam();
  std::mt19937 Random{7};
};

TEST_P(UnorderedTest, AnyOrderIsTheSame) {
  for (size_t Count : {1, 2, 17, 300}) {
    const Bytes Made = records(Random, Count, Size);
    std::vector<size_t> Order(Count);
    for (size_t I = 0; I < Count; ++I)
      Order[I] = I;
    std::shuffle(Order.begin(), Order.end(), Random);
    Bytes Other;
    for (size_t I : Order)
      Other.insert(Other.end(), Made.begin() + I * Size,
                   Made.begin() + (I + 1) * Size);
    EXPECT_EQ(sorted(Made, Size), sorted(Other, Size)) << Count;
  }
}

TEST_P(UnorderedTest, AnotherRecordIsNot) {
  const Bytes Made = records(Random, 40, Size);
  for (size_t At = 0; At < Made.size(); ++At) {
    Bytes Other = Made;
    Other[At] += 5;
    EXPECT_NE(sorted(Made, Size), sorted(Other, Size)) << At;
  }
}

TEST_P(UnorderedTest, OneForAnotherIsNot) {
  Bytes Made(4 * Size);
  for (size_t I = 0; I < 4; ++I)
    Made[I * Size] = uint8_t(I);
  Bytes Other = Made; // one twice, and one missing
  std::copy_n(Other.begin(), Size, Other.begin() + Size);
  EXPECT_NE(sorted(Made, Size), sorted(Other, Size));
}

TEST_P(UnorderedTest, ARestStaysWhereItIs) {
  Bytes Made(3 * Size, 9);
  Made.push_back(1);
  const Bytes After = sorted(Made, Size);
  EXPECT_EQ(After.size(), Made.size());
  if (Size > 1) {
    EXPECT_EQ(After.back(), 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, UnorderedTest,
                         ::testing::Values(1, 4, 8, 12, 40));

} // namespace
