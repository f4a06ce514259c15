// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Relocate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

using namespace r3;
using namespace r3::trust;

namespace {

Recording recordingOf(std::vector<std::pair<uint64_t, uint64_t>> Allocations,
                      std::vector<uint64_t> Words) {
  Recording R;
  for (auto [Address, Size] : Allocations) {
    R.Allocations.emplace_back();
    R.Allocations.back().Address = Address;
    R.Allocations.back().Size = Size;
  }
  R.Arguments.resize(Words.size() * 8);
  std::memcpy(R.Arguments.data(), Words.data(), R.Arguments.size());
  for (uint32_t I = 0; I < Words.size(); ++I)
    R.Fields.push_back({I * 8, 8, ValueType::Pointer, "p"});
  return R;
}

uint64_t wordOf(const Recording &R, size_t Index) {
  uint64_t Word;
  std::memcpy(&Word, R.Arguments.data() + Index * 8, 8);
  return Word;
}

TEST(Relocation, KeepsTheAlignmentThatIsNeededAndNoBetter) {
  const Recording R =
      recordingOf({{0x10000, 100}, {0x20000, 100}, {0x30000, 9}},
                  {0x10000, 0x20010, 0x30000});
  const Recording Moved = Relocation(R, {8, 16, 1}).apply(R);
  EXPECT_EQ(Moved.Allocations[0].Address, 0x10008u);
  EXPECT_EQ(Moved.Allocations[1].Address, 0x20010u);
  EXPECT_EQ(Moved.Allocations[2].Address, 0x30001u);
  EXPECT_EQ(wordOf(Moved, 0), 0x10008u);
  EXPECT_EQ(wordOf(Moved, 1), 0x20020u);
  EXPECT_EQ(wordOf(Moved, 2), 0x30001u);
}

TEST(Relocation, AddressesAreFoundUpToTheEnd) {
  const Recording R =
      recordingOf({{0x1000, 100}}, {0x1064, 0x1065, 0xfff, 0, ~0ull});
  const Relocation To(R, {4});
  const Recording Moved = To.apply(R);
  EXPECT_EQ(wordOf(Moved, 0), 0x1068u);
  for (size_t I = 1; I < 5; ++I)
    EXPECT_EQ(wordOf(Moved, I), wordOf(R, I));
  EXPECT_TRUE(To.isAddress(0x1064));
  EXPECT_FALSE(To.isAddress(0x1065));
}

TEST(Relocation, WhatIsNoAddressByTypeStays) {
  Recording R = recordingOf({{0x1000, 100}}, {0x1000, 0x1000, 0x1000, 0x1000});
  R.Fields[0].Type = ValueType::I64;
  R.Fields[1].Type = ValueType::Bytes;
  R.Fields[2].Type = ValueType::F64;
  R.Fields[3] = {24, 4, ValueType::I32, "n"};
  const Recording Moved = Relocation(R, {1}).apply(R);
  EXPECT_EQ(wordOf(Moved, 0), 0x1001u);
  EXPECT_EQ(wordOf(Moved, 1), 0x1001u);
  EXPECT_EQ(wordOf(Moved, 2), 0x1000u);
  EXPECT_EQ(wordOf(Moved, 3), 0x1000u);
}

TEST(Relocation, NeighboursThatTouchStayTogether) {
  const Recording R = recordingOf({{0x1000, 256}, {0x1100, 256}}, {0x1100});
  const Recording Moved = Relocation(R, {4, 16}).apply(R);
  EXPECT_EQ(Moved.Allocations[0].Address, 0x1010u);
  EXPECT_EQ(Moved.Allocations[1].Address, 0x1110u);
}

TEST(Relocation, AddressesInArgumentsKnowTheirAllocation) {
  Recording R = recordingOf({{0x3000, 8}, {0x1000, 256}, {0x1100, 256}},
                            {0x1100, 0x10ff, 7, 0x3008, 0x1200});
  const auto Words = Relocation(R, {1, 1, 1}).argumentWords(R);
  ASSERT_EQ(Words.size(), 4u);
  // One that ends where another begins: the latter.
  EXPECT_EQ(Words[0].Allocation, 2u);
  EXPECT_EQ(Words[1].Allocation, 1u);
  EXPECT_EQ(Words[2].Offset, 24u);
  EXPECT_EQ(Words[2].Allocation, 0u);
  EXPECT_EQ(Words[3].Allocation, 2u);
}

TEST(Relocation, GlobalsStay) {
  Recording R = recordingOf({{0x1000, 256}, {0x2000, 8}}, {0x2000});
  R.Allocations[1].Kind = MemoryKind::Global;
  const Relocation To(R, {4, 8});
  EXPECT_EQ(To.apply(R).Allocations[1].Address, 0x2000u);
  EXPECT_FALSE(To.isAddress(0x2000));
  R.Allocations.erase(R.Allocations.begin());
  EXPECT_TRUE(Relocation(R, {8}).empty());
}

TEST(Relocation, NothingOverlapsWhateverItsAlignment) {
  std::mt19937_64 Random(1);
  for (unsigned Round = 0; Round < 2000; ++Round) {
    std::vector<std::pair<uint64_t, uint64_t>> Allocations;
    std::vector<uint64_t> Alignments;
    uint64_t At = 1 << 20;
    for (unsigned I = 0; I < 1 + Random() % 8; ++I) {
      const uint64_t Alignment = 1ull << Random() % 9;
      At = (At + Alignment - 1) / Alignment * Alignment;
      const uint64_t Size = 1 + Random() % 600;
      Allocations.emplace_back(At, Size);
      Alignments.push_back(Alignment);
      At += Size + (Random() & 1 ? Random() % 40 : 0);
    }
    const Recording R = recordingOf(Allocations, {});
    const Recording Moved = Relocation(R, Alignments).apply(R);
    uint64_t End = 0;
    for (size_t I = 0; I < Moved.Allocations.size(); ++I) {
      const RecordedAllocation &A = Moved.Allocations[I];
      EXPECT_GT(A.Address, R.Allocations[I].Address);
      EXPECT_EQ(A.Address % Alignments[I], 0u);
      EXPECT_GE(A.Address, End);
      End = A.Address + A.Size;
    }
  }
}

} // namespace
