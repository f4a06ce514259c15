// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Recording.h"
#include "runtime/support/Bytes.h"
#include "unittests/support/TestFolder.h"

#include <cstring>

using namespace r3;

static Recording example() {
  Recording R;
  R.Key = std::string(32, 'a');
  R.Name = "_Z7stencilPdi";
  R.Display = "stencil(double*, int)";
  R.Home = "src/a.cu:main";
  R.Arch = "sm_90";
  R.Unit = std::string(32, 'b');
  R.Module = {1, 2};
  R.Image = {3, 4};
  R.Level = "O2";
  R.Launch.Grid = {8, 4, 2};
  R.Launch.Block = {128, 2, 1};
  R.Launch.DynamicShared = 1024;
  R.Launch.StaticShared = 16;
  R.Launch.Cooperative = true;
  R.Launch.MaxDynamicShared = 65536;
  R.Device = {"cuda",   "NVIDIA H200", "sm_90",   "sm_90 H200", "580.1",
              "22.1.8", 132,           60u << 20, 141ull << 30};
  R.Arguments.assign(16, 5);
  R.Fields = {{0, 8, ValueType::Pointer, "p"}, {8, 4, ValueType::I32, "n"}};
  R.Class = "block=128,2,1";
  RecordedAllocation A;
  A.Address = 0x7f0000000000;
  A.Size = ChunkBytes + 1;
  A.Before = {{5, 6}, {7, 8}};
  A.After = {{1, {9, 10}}};
  RecordedAllocation Global;
  Global.Kind = MemoryKind::Global;
  Global.Global = "table";
  Global.Size = 16;
  Global.Before = {{11, 12}};
  R.Allocations = {A, Global};
  R.Symbolic = {{0xffffffff, 0, SymbolicWord::Kind::ModuleGlobal, "table", 4},
                {1, 8, SymbolicWord::Kind::VTable, "_ZTV1A", 16}};
  R.DurationNs = 1234;
  R.Ordinal = 5;
  R.LaunchesSeen = 6;
  R.Rank = 7;
  R.TakenAt = 1700000000;
  return R;
}

/// The checksum made right again, so that the reader gets to the content.
static std::vector<uint8_t> sealed(std::vector<uint8_t> Bytes) {
  Bytes.resize(Bytes.size() - 8);
  uint64_t Sum = checksum(Bytes);
  for (int I = 0; I != 8; ++I)
    Bytes.push_back(uint8_t(Sum >> 8 * I));
  return Bytes;
}

TEST(Recording, RoundTrip) {
  Recording R = example();
  std::vector<uint8_t> Bytes = R.serialize();
  Expected<Recording> Parsed = Recording::parse(Bytes, "k.r3rec");
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->serialize(), Bytes);
  EXPECT_EQ(Parsed->Fields[1].Name, "n");
  EXPECT_EQ(Parsed->Launch.Grid, R.Launch.Grid);
  EXPECT_EQ(Parsed->Launch.Carveout, 0xffffffffu);
  EXPECT_EQ(Parsed->Device.MemoryBytes, 141ull << 30);
  EXPECT_EQ(Parsed->Allocations[0].After[0].After, (Digest{9, 10}));
  EXPECT_EQ(Parsed->Symbolic[1].Name, "_ZTV1A");
  EXPECT_EQ(Parsed->footprint(), ChunkBytes + 17);
  EXPECT_EQ(Recording::idOf(Bytes), contentDigest(Bytes));
}

TEST(Recording, ChunkSizes) {
  EXPECT_EQ(Recording::chunkSize(ChunkBytes + 1, 0), ChunkBytes);
  EXPECT_EQ(Recording::chunkSize(ChunkBytes + 1, 1), 1u);
  EXPECT_EQ(Recording::chunkSize(ChunkBytes, 1), 0u);
  EXPECT_EQ(Recording::chunkSize(1, UINT64_MAX), 0u);
}

TEST(Recording, CutAndChangedAtEveryByte) {
  std::vector<uint8_t> Bytes = example().serialize();
  for (size_t I = 0; I != Bytes.size(); ++I) {
    EXPECT_FALSE(Recording::parse({Bytes.data(), I}, "cut")) << I;
    std::vector<uint8_t> Changed = Bytes;
    Changed[I] ^= 1;
    EXPECT_FALSE(Recording::parse(Changed, "changed")) << I;
  }
  Bytes.push_back(0);
  EXPECT_FALSE(Recording::parse(Bytes, "longer"));
}

// Cut with a right checksum: the grammar itself has to notice.
TEST(Recording, SealedAndCutAtEveryLength) {
  std::vector<uint8_t> Bytes = example().serialize();
  for (size_t Size = 8; Size != Bytes.size(); ++Size) {
    std::vector<uint8_t> Cut(Bytes.begin(), Bytes.begin() + long(Size));
    EXPECT_FALSE(Recording::parse(sealed(Cut), "cut")) << Size;
  }
}

TEST(Recording, WrongVersionAndForeign) {
  std::vector<uint8_t> Bytes = example().serialize();
  Bytes[8] = 2;
  EXPECT_TRUE(failsWith(Recording::parse(sealed(Bytes), "k"),
                        "version 2, this r3 reads 1"));
  Bytes[0] = 'X';
  EXPECT_TRUE(
      failsWith(Recording::parse(sealed(Bytes), "k"), "not a recording"));
  EXPECT_TRUE(failsWith(Recording::parse({}, "k"), "0 bytes left, 8 needed"));
}

// A number that was forged, with a right checksum: refused, without a huge
// allocation.
TEST(Recording, ForgedCounts) {
  std::vector<uint8_t> Bytes = example().serialize();
  for (size_t At = 16; At + 16 <= Bytes.size(); ++At) {
    std::vector<uint8_t> Changed = Bytes;
    std::memset(&Changed[At], 0x7f, 8);
    (void)Recording::parse(sealed(Changed), "forged");
  }
  std::memset(&Bytes[16], 0x7f, 8); // the length of the key
  EXPECT_TRUE(failsWith(Recording::parse(sealed(Bytes), "k"), "elements of"));
}

TEST(Recording, PartsMustFitTogether) {
  auto fails = [](void (*Change)(Recording &), const char *Why) {
    Recording R = example();
    Change(R);
    return failsWith(Recording::parse(R.serialize(), "k"), Why);
  };
  EXPECT_TRUE(fails([](Recording &R) { R.Fields[0].Offset = 9; },
                    "field lies outside"));
  EXPECT_TRUE(fails([](Recording &R) { R.Fields[0].Type = ValueType(10); },
                    "field type 10"));
  EXPECT_TRUE(fails([](Recording &R) { R.Allocations[0].Kind = MemoryKind(5); },
                    "memory kind 5"));
  EXPECT_TRUE(fails([](Recording &R) { R.Allocations[0].Before.pop_back(); },
                    "1 chunks for 262145 bytes"));
  EXPECT_TRUE(fails([](Recording &R) { R.Allocations[1].Before.clear(); },
                    "no contents"));
  EXPECT_TRUE(fails([](Recording &R) { R.Allocations[0].After[0].Chunk = 2; },
                    "not in order"));
  EXPECT_TRUE(fails([](Recording &R) { R.Allocations[0].Address = ~0ull; },
                    "beyond all addresses"));
  EXPECT_TRUE(fails([](Recording &R) { R.Symbolic[0].Offset = 9; },
                    "symbolic word lies outside"));
  EXPECT_TRUE(fails([](Recording &R) { R.Symbolic[1].Allocation = 2; },
                    "symbolic word lies outside"));
}

TEST(Recording, GivenUpHasNoContents) {
  Recording R = example();
  R.Reason = "not-quiet";
  for (RecordedAllocation &A : R.Allocations) {
    A.Before.clear();
    A.After.clear();
  }
  EXPECT_TRUE(Recording::parse(R.serialize(), "k"));
}

TEST(ValueType, Names) {
  for (int I = 0; I <= int(ValueType::Pointer); ++I)
    EXPECT_EQ(*parseValueType(valueTypeName(ValueType(I))), ValueType(I));
  EXPECT_FALSE(parseValueType("int"));
}
