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
  F.Outside.Count = 2;
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

} // namespace
