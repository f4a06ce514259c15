// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plans: coverage of segments, shared contents, damaged manifests, and the
// serialised form cut at every length. Descriptors over a socket.
#include "wrapper/replay/Plan.h"
#include "wrapper/replay/Descriptors.h"
#include "wrapper/replay/Message.h"
#include "wrapper/replay/ReadOnly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

using namespace r3;
using namespace r3::replay;
using ::testing::HasSubstr;

namespace {

constexpr uint64_t Mega = 1 << 20;

class Places : public ChunkSource {
public:
  Expected<Place> find(const Digest &, uint32_t) override {
    return Place{0, Next++ * ChunkBytes};
  }
  uint64_t Next = 0;
};

RecordedAllocation allocation(uint64_t Address, uint64_t Size,
                              uint64_t Content) {
  RecordedAllocation A;
  A.Address = Address;
  A.Size = Size;
  for (uint64_t I = 0; I * ChunkBytes < Size; ++I)
    A.Before.push_back({Content + I, Size});
  return A;
}

Recording recording(std::vector<RecordedAllocation> Allocations) {
  Recording R;
  R.Name = "k";
  R.Allocations = std::move(Allocations);
  return R;
}

Expected<ReplayPlan> plan(std::vector<Recording> Recordings) {
  Places Source;
  return makePlan(Recordings, 2 * Mega, 32 * Mega, Source);
}

const uint64_t Base = 0x700000000000;

TEST(Plan, RangesCoverTheSegmentsExactly) {
  auto P = plan({recording({allocation(Base + 512, 1001, 1),
                            allocation(Base + 5 * Mega, 3 * Mega, 10)})});
  ASSERT_TRUE(P) << P.error().message();
  ASSERT_EQ(P->Windows.size(), 1u);
  EXPECT_EQ(P->Windows[0].Size, 32 * Mega);
  ASSERT_EQ(P->Segments.size(), 2u);
  EXPECT_EQ(P->Segments[1].Begin, Base + 4 * Mega);
  EXPECT_EQ(P->segmentBytes(), 6 * Mega);
  uint64_t Sum = 0;
  for (const PlanRange &R : P->Launches[0].Ranges) {
    Sum += R.Size;
    EXPECT_EQ(R.Before.size(), R.chunks());
    // A device hashes words: only short guards begin between them.
    EXPECT_TRUE(R.What != PlanRange::Kind::Guard || R.Size < GuardAlignment ||
                R.Address % GuardAlignment == 0);
  }
  EXPECT_EQ(Sum, 6 * Mega);
}

TEST(Plan, ContentsOfSeveralRecordingsAreKeptOnce) {
  auto A = allocation(Base, Mega, 1);
  auto B = A;
  B.Before[2] = {999, 999};
  auto P = plan({recording({A}), recording({B})});
  ASSERT_TRUE(P) << P.error().message();
  EXPECT_EQ(P->Pool.size(), 5u);
  EXPECT_EQ(P->Launches[0].Ranges[0].PoolOffset[1],
            P->Launches[1].Ranges[0].PoolOffset[1]);
}

TEST(Plan, DamagedManifestsAreRefused) {
  auto Message = [](Recording R) {
    auto P = plan({std::move(R)});
    EXPECT_FALSE(P);
    return P ? std::string() : P.error().message();
  };
  EXPECT_THAT(Message(recording({allocation(Base, Mega, 1),
                                 allocation(Base + Mega - 1, 10, 9)})),
              HasSubstr("overlap"));
  auto Short = allocation(Base, Mega, 1);
  Short.Before.pop_back();
  EXPECT_THAT(Message(recording({Short})), HasSubstr("chunks"));
  auto Late = allocation(Base, Mega, 1);
  Late.After = {{4, Digest{1, 1}}};
  EXPECT_THAT(Message(recording({Late})), HasSubstr("changed chunk 4"));
  auto Huge = allocation(Base, 8, 1);
  Huge.Size = ~0ull;
  EXPECT_THAT(Message(recording({Huge})), HasSubstr("has size"));
  auto R = recording({allocation(Base, 16, 1)});
  R.Symbolic.push_back({0, 9, SymbolicWord::Kind::ModuleGlobal, "g", 0});
  EXPECT_THAT(Message(R), HasSubstr("symbolic word g at offset 9"));
  R.Symbolic[0].Allocation = 7;
  EXPECT_THAT(Message(R), HasSubstr("allocation 7"));
  R.Symbolic[0] = {0, 0, SymbolicWord::Kind::Function, "f", 0};
  EXPECT_THAT(Message(R), HasSubstr("function f"));
}

TEST(Plan, SurvivesSerialisationAndEveryCut) {
  auto R = recording({allocation(Base + 512, 1001, 1)});
  R.Symbolic.push_back({0, 8, SymbolicWord::Kind::VTable, "v", 16});
  R.Arguments = {1, 2, 3};
  R.Launch.DynamicShared = 77;
  auto P = plan({R});
  ASSERT_TRUE(P);
  auto Bytes = P->serialize();
  auto Q = ReplayPlan::parse(Bytes);
  ASSERT_TRUE(Q) << Q.error().message();
  EXPECT_EQ(Q->serialize(), Bytes);
  EXPECT_EQ(Q->Launches[0].Symbolic[0].Name, "v");
  EXPECT_EQ(Q->Launches[0].Config.DynamicShared, 77u);
  for (size_t Size = 0; Size < Bytes.size(); ++Size)
    EXPECT_FALSE(ReplayPlan::parse({Bytes.data(), Size})) << Size;
}

TEST(Plan, WhatIsNotWrittenIsReadOnly) {
  auto P = plan({recording({allocation(Base + 512, 1000, 1),
                            allocation(Base + 8192, 3 * Mega, 10),
                            allocation(Base + 8 * Mega, Mega, 30)})});
  ASSERT_TRUE(P) << P.error().message();
  auto ReadOnly = [&](std::vector<uint64_t> Written, uint64_t Unit) {
    std::vector<std::pair<uint64_t, uint64_t>> Result;
    for (const MemoryRange &R :
         readOnlyMemory(P->Segments, P->Launches[0], Written, Unit))
      Result.emplace_back(R.Begin - Base, R.end() - Base);
    return Result;
  };
  using Pairs = decltype(ReadOnly({}, 0));
  EXPECT_EQ(ReadOnly({}, 0), Pairs());
  EXPECT_EQ(ReadOnly({}, 4096), (Pairs{{0, 4 * Mega}, {8 * Mega, 10 * Mega}}));
  EXPECT_EQ(ReadOnly({0, 1, 2}, 2 * Mega), Pairs());
  EXPECT_EQ(ReadOnly({0}, 4096),
            (Pairs{{4096, 4 * Mega}, {8 * Mega, 10 * Mega}}));
  EXPECT_EQ(ReadOnly({0, 1}, 4096), (Pairs{{4096, 8192},
                                           {3 * Mega + 8192, 4 * Mega},
                                           {8 * Mega, 10 * Mega}}));
}

TEST(Plan, DeniedWritesAreToldByTheirAddress) {
  EXPECT_EQ(deniedWrite("a store to read-only memory at 0x00006e0000000410"),
            0x6e0000000410u);
  EXPECT_FALSE(deniedWrite("a store to read-only memory at 0x6e"));
  EXPECT_FALSE(deniedWrite("nothing"));
}

TEST(Plan, GuardDigestsAreThoseOfThePattern) {
  std::vector<uint8_t> Pattern(ChunkBytes + 5, GuardByte);
  auto Digests = guardDigests(Pattern.size());
  ASSERT_EQ(Digests.size(), 2u);
  EXPECT_EQ(Digests[0], chunkDigest({Pattern.data(), ChunkBytes}));
  EXPECT_EQ(Digests[1], chunkDigest({Pattern.data(), 5}));
}

TEST(Descriptors, ManyTravelInOrder) {
  auto Ends = socketPair();
  ASSERT_TRUE(Ends);
  std::vector<OwnedFd> Files;
  std::vector<int> Raw;
  for (int I = 0; I < 300; ++I) {
    auto File = memoryFile("test", 0);
    ASSERT_TRUE(File);
    ASSERT_EQ(::write(File->get(), &I, sizeof(I)), ssize_t(sizeof(I)));
    Raw.push_back(File->get());
    Files.push_back(std::move(*File));
  }
  ASSERT_FALSE(sendDescriptors(Ends->first.get(), Raw));
  auto Got = receiveDescriptors(Ends->second.get(), 300, 1000);
  ASSERT_TRUE(Got) << Got.error().message();
  for (int I = 0; I < 300; ++I) {
    int Value = -1;
    EXPECT_EQ(::pread((*Got)[I].get(), &Value, sizeof(Value), 0),
              ssize_t(sizeof(Value)));
    EXPECT_EQ(Value, I);
  }
}

TEST(Descriptors, MissingOnesAreNotWaitedForForever) {
  auto Ends = socketPair();
  ASSERT_TRUE(Ends);
  EXPECT_EQ(receiveDescriptors(Ends->second.get(), 1, 50).error().code(),
            ErrorCode::Timeout);
  Ends->first.reset();
  EXPECT_EQ(receiveDescriptors(Ends->second.get(), 1, 50).error().code(),
            ErrorCode::NotFound);
}

TEST(Message, LastWordsThatAreNoTextStayJson) {
  const std::string Json =
      Message("reply")
          .outcome(Outcome::Crashed, "caf\xc3\xa9 \xff\xfe \xc3")
          .json();
  auto Parsed = json::parse(Json, "reply");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(json::text(*Parsed, "message", ""), "caf\xc3\xa9 ?? ?");
}

} // namespace
