// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may be poisoned, and the forms in which footprints travel.
#include "wrapper/replay/Footprint.h"

#include <gtest/gtest.h>

using namespace r3;
using namespace r3::replay;

namespace {

Footprint example() {
  Footprint F;
  F.Ranges.resize(3);
  F.Ranges[0].Read.append({0, 100});
  F.Ranges[0].Inherited.append({0, 100});
  F.Ranges[1].Read.append({10, 20});
  F.Ranges[1].Written.append({0, 40});
  F.Ranges[1].Float.append({12, 16});
  F.Ranges[2].Double.append({8, 24});
  F.Ranges[2].Alignment = 16;
  F.Outside.Count = 2;
  F.Outside.Alignment = 8;
  F.Outside.Address = 0x1234;
  F.Outside.Thread[2] = 7;
  F.Unwritten.Count = 3;
  F.Unwritten.Site = 5;
  return F;
}

TEST(Footprint, PoisonIsWhatIsWrittenAndNotRead) {
  const Poison P(example());
  EXPECT_EQ(P.Bytes, 30u);
  ASSERT_EQ(P.List.size(), 2u);
  EXPECT_EQ(P.List[0].Range, 1u);
  EXPECT_EQ(P.List[0].Begin, 0u);
  EXPECT_EQ(P.List[0].end(), 10u);
  EXPECT_EQ(P.List[1].Begin, 20u);
  EXPECT_EQ(P.List[1].end(), 40u);
}

TEST(Footprint, ForeignIsWhatIsReadInVain) {
  Footprint Original = example(), Variant = example();
  EXPECT_FALSE(foreignRead(Variant, Original));
  // What it has written before it reads it is its own.
  Variant.Ranges[1].Read.append({20, 40});
  EXPECT_FALSE(foreignRead(Variant, Original));
  Variant.Ranges[1].Inherited.append({15, 25});
  Variant.Ranges[1].Inherited.append({30, 31});
  const auto Found = foreignRead(Variant, Original);
  ASSERT_TRUE(Found);
  EXPECT_EQ(Found->Range, 1u);
  EXPECT_EQ(Found->Offset, 20u);
  EXPECT_EQ(Found->Bytes, 6u);
}

TEST(Footprint, RegularIntervalsAreRows) {
  Footprint F;
  F.Ranges.resize(1);
  for (uint64_t I = 0; I < 100000; ++I)
    F.Ranges[0].Written.append({I * 1536, I * 1536 + 1280});
  F.Ranges[0].Written.append({200000000, 200000001});
  const Poison P(F);
  ASSERT_EQ(P.List.size(), 2u);
  EXPECT_EQ(P.List[0].Pitch, 1536u);
  EXPECT_EQ(P.List[0].Rows, 100000u);
  EXPECT_EQ(P.Bytes, 128000001u);
  EXPECT_EQ(P.LeftBytes, 0u);
}

TEST(Footprint, TheLargestPiecesArePoisoned) {
  Footprint F;
  F.Ranges.resize(1);
  for (uint64_t I = 0; I < Poison::Pieces + 10; ++I)
    F.Ranges[0].Written.append(
        {I * 100 + I % 2, I * 100 + I % 2 + (I < 10 ? 1 + I % 2 : 8 + I % 2)});
  const Poison P(F);
  EXPECT_EQ(P.List.size(), Poison::Pieces);
  EXPECT_EQ(P.LeftBytes, 15u); // the first ten
}

TEST(Footprint, WhatIsNotWrittenIsFound) {
  const Footprint All = example();
  EXPECT_EQ(missingWrites(All, All).Bytes, 0u);
  EXPECT_EQ(missingWrites(Footprint(), All).Bytes, 0u);
  const MissingWrites None = missingWrites(All, Footprint());
  EXPECT_EQ(None.Bytes, 40u);
  EXPECT_EQ(None.Range, 1u);
  EXPECT_EQ(None.Begin, 0u);
  Footprint Some = All; // more elsewhere is no substitute
  Some.Ranges[1].Written = IntervalSet();
  Some.Ranges[1].Written.append({0, 10});
  Some.Ranges[1].Written.append({30, 50});
  Some.Ranges[2].Written.append({0, 100});
  const MissingWrites Missing = missingWrites(All, Some);
  EXPECT_EQ(Missing.Bytes, 20u);
  EXPECT_EQ(Missing.Begin, 10u);
}

TEST(Footprint, IsReadAsWrittenAndRefusedAtEveryLength) {
  ByteWriter Out;
  example().write(Out);
  ByteReader In(Out.data(), "test");
  const Footprint Again = Footprint::read(In);
  EXPECT_FALSE(In.finish());
  EXPECT_EQ(Again.readBytes(), 110u);
  EXPECT_EQ(Again.writtenBytes(), 40u);
  EXPECT_EQ(Again.Outside.Address, 0x1234u);
  EXPECT_EQ(Again.Outside.Thread[2], 7u);
  EXPECT_EQ(Again.Unwritten.Count, 3u);
  EXPECT_EQ(Again.Unwritten.Site, 5u);
  EXPECT_EQ(Again.Ranges[0].Inherited.bytes(), 100u);
  EXPECT_EQ(Again.Outside.Alignment, 8u);
  EXPECT_EQ(Again.Ranges[1].Float.bytes(), 4u);
  EXPECT_EQ(Again.Ranges[2].Double.bytes(), 16u);
  EXPECT_EQ(Again.Ranges[2].Alignment, 16u);
  for (size_t Size = 0; Size < Out.data().size(); ++Size) {
    ByteReader Cut(Out.data().first(Size), "test");
    (void)Footprint::read(Cut);
    EXPECT_TRUE(Cut.finish()) << Size;
  }
}

TEST(Footprint, PoisonIsReadAsWrittenAndRefusedAtEveryLength) {
  const auto Bytes = Poison(example()).serialize();
  auto Again = Poison::parse(Bytes);
  ASSERT_TRUE(Again);
  EXPECT_EQ(Again->serialize(), Bytes);
  for (size_t Size = 0; Size < Bytes.size(); ++Size)
    EXPECT_FALSE(Poison::parse({Bytes.data(), Size})) << Size;
}

TEST(Footprint, WordsOfOneUseAreFound) {
  // Nothing, float, double, something else, float as well as something else, a
  // double read as an integer in part, half of a double.
  const std::vector<uint32_t> Words = {0x04820010, 0x80C20005};
  IntervalSet Float, Double;
  WordUses(Float, Double).add(Words, 64, 64);
  EXPECT_EQ(Float.intervals(), (std::vector<Interval>{{68, 72}}));
  EXPECT_EQ(Double.intervals(), (std::vector<Interval>{{80, 88}}));
}

TEST(Footprint, ADoubleMayLieInTwoPieces) {
  IntervalSet Float, Double;
  WordUses Uses(Float, Double);
  Uses.add(std::vector<uint32_t>{0x20000000}, 0, 32);
  Uses.add(std::vector<uint32_t>{0x00000008}, 32, 32);
  EXPECT_EQ(Double.intervals(), (std::vector<Interval>{{28, 36}}));
  Uses.add(std::vector<uint32_t>{0x00000008}, 64, 32);
  EXPECT_EQ(Double.bytes(), 8u);
}

TEST(Footprint, OneWordMayStandForMany) {
  for (uint32_t Word : {WordUses::Floats, WordUses::Doubles, 0x11821111u}) {
    IntervalSet Float[2], Double[2];
    WordUses(Float[0], Double[0]).add({&Word, 1}, 32, 4096);
    WordUses(Float[1], Double[1])
        .add(std::vector<uint32_t>(128, Word), 32, 4096);
    EXPECT_EQ(Float[0], Float[1]) << Word;
    EXPECT_EQ(Double[0], Double[1]) << Word;
    EXPECT_GT(Float[0].bytes() + Double[0].bytes(), 4000u);
  }
}

} // namespace
