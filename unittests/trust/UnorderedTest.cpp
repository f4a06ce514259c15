// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Unordered.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace r3;
using namespace r3::trust;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes sorted(Bytes Of, uint64_t Size) {
  sortRecords(Of, {0, {0, Of.size()}, Size, {}});
  return Of;
}

/// Where the original writes [Begin, End) of the buffer.
Bytes sorted(Bytes Of, uint64_t Size, Interval Written) {
  IntervalSet Set;
  Set.append(Written);
  sortRecords(Of, {0, {0, Of.size()}, Size, Set});
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

TEST_P(UnorderedTest, WhatIsNotWrittenStaysWhereItIs) {
  // Records 1 to 3 of 6: what is around them is no record of theirs.
  const Interval Written{Size, 4 * Size};
  Bytes Made(6 * Size);
  for (size_t I = 0; I < Made.size(); ++I)
    Made[I] = uint8_t(9 - I / Size);
  Bytes Other = Made;
  std::swap_ranges(Other.begin() + Size, Other.begin() + 2 * Size,
                   Other.begin() + 3 * Size);
  EXPECT_EQ(sorted(Made, Size, Written), sorted(Other, Size, Written));
  for (size_t Outside : {0, 4, 5}) {
    Other = Made;
    std::swap_ranges(Other.begin() + Size, Other.begin() + 2 * Size,
                     Other.begin() + Outside * Size);
    EXPECT_EQ(sorted(Made, Size), sorted(Other, Size));
    EXPECT_NE(sorted(Made, Size, Written), sorted(Other, Size, Written));
  }
}

TEST_P(UnorderedTest, APartlyWrittenRecordIsOne) {
  // The last byte of record 0, the first of record 2, and record 1 between.
  IntervalSet Written;
  Written.append({Size - 1, Size});
  Written.append({Size, 2 * Size + 1});
  Bytes Made(4 * Size);
  for (size_t I = 0; I < Made.size(); ++I)
    Made[I] = uint8_t(9 - I / Size);
  Bytes After = Made;
  sortRecords(After, {0, {0, Made.size()}, Size, Written});
  for (size_t I = 0; I < Made.size(); ++I)
    EXPECT_EQ(After[I], std::vector<int>({7, 8, 9, 6})[I / Size]) << I;
}

TEST_P(UnorderedTest, RecordsBeginWhereTheyAreSaidTo) {
  Bytes Made(1, 7); // of something else, before and behind
  for (size_t I = 0; I < 3 * Size; ++I)
    Made.push_back(uint8_t(5 - I / Size));
  Made.resize(Made.size() + Size, 1);
  Bytes After = Made;
  sortRecords(After, {0, {1, 1 + 3 * Size}, Size, {}});
  EXPECT_EQ(After.front(), 7);
  for (size_t I = 0; I < 3 * Size; ++I)
    EXPECT_EQ(After[1 + I], 3 + I / Size) << I;
  EXPECT_EQ(After.back(), 1);
}

TEST(Unordered, RandomWrittenSetsKeepTheirRecords) {
  std::mt19937 Random(11);
  for (int Round = 0; Round < 200; ++Round) {
    const uint64_t Size = 1 + Random() % 12, Begin = Random() % 5;
    Bytes Made(Begin + Size * 30 + Random() % Size);
    for (uint8_t &Byte : Made)
      Byte = uint8_t(Random());
    IntervalSet Written;
    std::set<uint64_t> Places; // of records that are touched
    for (uint64_t At = Random() % 40; At < Made.size();
         At += 1 + Random() % 40) {
      const Interval I{At,
                       std::min<uint64_t>(At + 1 + Random() % 20, Made.size())};
      Written.append(I);
      At = I.End;
      for (uint64_t Byte = std::max(I.Begin, Begin); Byte < I.End; ++Byte)
        if ((Byte - Begin) / Size < 30)
          Places.insert((Byte - Begin) / Size);
    }
    auto Record = [&](Bytes &Of, uint64_t Index) {
      return Of.begin() + ptrdiff_t(Begin + Index * Size);
    };
    const UnorderedRecords Which{0, {Begin, Made.size()}, Size, Written};
    Bytes Other = Made;
    std::vector<uint64_t> Order(Places.begin(), Places.end()), Was = Order;
    std::shuffle(Order.begin(), Order.end(), Random);
    for (size_t I = 0; I < Was.size(); ++I)
      std::copy_n(Record(Made, Was[I]), Size, Record(Other, Order[I]));
    sortRecords(Made, Which);
    sortRecords(Other, Which);
    EXPECT_EQ(Made, Other) << Round;
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, UnorderedTest,
                         ::testing::Values(1, 4, 8, 12, 40));

} // namespace
