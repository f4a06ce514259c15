// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval sets against sets of single bytes.
#include "runtime/support/Intervals.h"

#include <gtest/gtest.h>

#include <random>

using namespace r3;

namespace {

constexpr size_t Bits = 256;
using Reference = std::vector<bool>;

Reference randomBits(std::mt19937 &Random) {
  Reference Result(Bits);
  for (size_t At = 0; At < Bits;) {
    const bool Value = Random() & 1;
    for (size_t Run = Random() % 70; Run-- && At < Bits;)
      Result[At++] = Value;
  }
  return Result;
}

IntervalSet setOf(const Reference &R) {
  std::vector<uint32_t> Words(Bits / 32);
  for (size_t I = 0; I < Bits; ++I)
    Words[I / 32] |= uint32_t(R[I]) << (I % 32);
  IntervalSet Result; // in two pieces
  Result.appendBits({Words.data(), 3}, 0);
  Result.appendBits({Words.data() + 3, Words.size() - 3}, 96);
  return Result;
}

Reference bitsOf(const IntervalSet &S) {
  Reference Result(Bits);
  for (const Interval &I : S.intervals())
    for (uint64_t At = I.Begin; At < I.End; ++At)
      Result[At] = true;
  return Result;
}

TEST(Intervals, AreThoseOfTheBits) {
  std::mt19937 Random(1);
  for (int Round = 0; Round < 2000; ++Round) {
    const Reference A = randomBits(Random), B = randomBits(Random);
    const IntervalSet SetA = setOf(A), SetB = setOf(B);
    ASSERT_EQ(bitsOf(SetA), A);
    ASSERT_EQ(SetA.bytes(), size_t(std::count(A.begin(), A.end(), true)));
    for (size_t I = 1; I < SetA.intervals().size(); ++I)
      ASSERT_LT(SetA.intervals()[I - 1].End, SetA.intervals()[I].Begin);
    Reference Minus(Bits);
    for (size_t I = 0; I < Bits; ++I)
      Minus[I] = A[I] && !B[I];
    ASSERT_EQ(bitsOf(SetA.minus(SetB)), Minus);
    const size_t Begin = Random() % Bits,
                 End = Begin + 1 + Random() % (Bits - Begin);
    Reference Within(Bits);
    for (size_t I = Begin; I < End; ++I)
      Within[I] = A[I];
    IntervalSet Cut;
    for (const Interval &I : SetA.within(Begin, End)) {
      ASSERT_LT(I.Begin, I.End);
      Cut.append(I);
    }
    ASSERT_EQ(bitsOf(Cut), Within);
  }
}

TEST(Intervals, AreReadAsWritten) {
  IntervalSet S;
  S.append({3, 5});
  S.append({5, 9}); // touches
  S.append({20, 20});
  S.append({100, 200});
  ASSERT_EQ(S.intervals().size(), 2u);
  ByteWriter Out;
  S.write(Out);
  ByteReader In(Out.data(), "test");
  EXPECT_EQ(IntervalSet::read(In), S);
  EXPECT_FALSE(In.finish());
}

TEST(Intervals, OutOfOrderAreRefused) {
  for (auto [Begin, End] : {std::pair{4u, 6u}, {5u, 6u}, {9u, 9u}, {9u, 8u}}) {
    ByteWriter Out;
    for (uint64_t Word : {uint64_t(2), uint64_t(3), uint64_t(5),
                          uint64_t(Begin), uint64_t(End)})
      Out.u64(Word);
    ByteReader In(Out.data(), "test");
    (void)IntervalSet::read(In);
    EXPECT_TRUE(In.failed()) << Begin << " " << End;
  }
}

} // namespace
