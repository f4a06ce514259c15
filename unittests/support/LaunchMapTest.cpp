// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/LaunchMap.h"
#include "unittests/support/TestFolder.h"

#include <cstring>

using namespace r3;

namespace {

/// A launch of (float *a, float *b, int n, unsigned u, double x, char *none).
struct Launched : Recording {
  Launched() {
    Launch.Grid = {7, 2, 1};
    Launch.Block = {64, 4, 1};
    Launch.DynamicShared = 512;
    add<uint64_t>("a", ValueType::Pointer, 0x10010);
    add<uint64_t>("b", ValueType::Pointer, 0x20000);
    add<int32_t>("n", ValueType::I32, -100);
    add<uint32_t>("u", ValueType::I32, 3000000000u);
    add<double>("x", ValueType::F64, 3);
    add<uint64_t>("none", ValueType::Pointer, 0);
    for (uint64_t Address : {0x10000, 0x20000, 0x21000}) {
      Allocations.emplace_back();
      Allocations.back().Address = Address;
      Allocations.back().Size = 0x1000;
    }
  }
  template <typename T> void add(const char *Name, ValueType Type, T Value) {
    Fields.push_back({uint32_t(Arguments.size()), sizeof(T), Type, Name});
    Arguments.resize(Arguments.size() + sizeof(T));
    std::memcpy(Arguments.data() + Arguments.size() - sizeof(T), &Value,
                sizeof(T));
  }
  void set(const char *Name, uint64_t Value) {
    for (const ArgumentField &F : Fields)
      if (F.Name == Name)
        std::memcpy(Arguments.data() + F.Offset, &Value, F.Size);
  }
};

class LaunchMap : public testing::Test {
protected:
  Launched L;

  Expected<bool> check(const char *Text) {
    auto G = Guard::parse(Text);
    EXPECT_TRUE(G) << Text;
    return holds(*G, LaunchView(L));
  }
  bool isTrue(const char *Text) {
    auto Holds = check(Text);
    EXPECT_TRUE(Holds) << Text << ": " << Holds.error().message();
    return Holds && *Holds;
  }
  Expected<LaunchConfig> map(std::vector<LaunchRule> Rules) {
    return mapLaunch(Rules, LaunchView(L));
  }
  Error limit(std::vector<LaunchRule> Rules, LaunchLimits Limits = {}) {
    auto Mapped = map(Rules);
    EXPECT_TRUE(Mapped) << Mapped.error().message();
    return checkLimits(Rules, *Mapped, Limits);
  }
};

} // namespace

TEST_F(LaunchMap, GuardsOfPointers) {
  EXPECT_TRUE(isTrue("align(a,16)"));
  EXPECT_FALSE(isTrue("align(a,32)"));
  EXPECT_TRUE(isTrue("align(b,65536)"));
  EXPECT_TRUE(isTrue("align(none,256)"));
  EXPECT_TRUE(failsWith(check("align(n,4)"),
                        "'n' is no pointer of this kernel (a, b, none)"));
  EXPECT_TRUE(failsWith(check("align(c,4)"), "'c' is no pointer"));
}

TEST_F(LaunchMap, GuardsOfIntegers) {
  EXPECT_TRUE(isTrue("divides(50,n)"));
  EXPECT_FALSE(isTrue("divides(3,n)"));
  EXPECT_TRUE(isTrue("divides(64,block.x)"));
  EXPECT_TRUE(isTrue("n==-100"));
  EXPECT_FALSE(isTrue("n==100"));
  EXPECT_TRUE(isTrue("grid.y==2"));
  // An unsigned one may be over what fits into a signed one.
  EXPECT_TRUE(isTrue("u==3000000000"));
  EXPECT_TRUE(isTrue("u==-1294967296"));
  EXPECT_TRUE(
      failsWith(check("x==3"), "'x' is no integer of this kernel (n, u)"));
  EXPECT_TRUE(failsWith(check("divides(2,a)"), "'a' is no integer"));
}

TEST_F(LaunchMap, DistinctMeansAllocationsAndNotAddresses) {
  EXPECT_TRUE(isTrue("distinct(a,b)"));
  L.set("b", 0x10800); // in a's
  EXPECT_FALSE(isTrue("distinct(a,b)"));
  EXPECT_TRUE(isTrue("distinct(a,none)"));
  // Where one ends and the next begins, as allocators place them.
  L.set("a", 0x21000);
  L.set("b", 0x20000);
  EXPECT_TRUE(isTrue("distinct(a,b)"));
  // Where one ends and none begins.
  L.set("a", 0x22000);
  L.set("b", 0x21000);
  EXPECT_FALSE(isTrue("distinct(a,b)"));
  // Nobody knows what is there.
  L.set("b", 0x90000);
  EXPECT_FALSE(isTrue("distinct(a,b)"));
}

TEST_F(LaunchMap, TheFirstBrokenGuardIsNamed) {
  Variant V;
  V.Guards = {"align(a,16)", "divides(7,grid.x)"};
  V.Specialise["n"] = -100;
  auto Guards = allGuards(V);
  ASSERT_TRUE(Guards);
  ASSERT_EQ(Guards->size(), 3u);
  auto None = firstBroken(*Guards, LaunchView(L));
  ASSERT_TRUE(None);
  EXPECT_FALSE(*None);
  L.set("n", 4);
  auto First = firstBroken(*Guards, LaunchView(L));
  ASSERT_TRUE(First && *First);
  EXPECT_EQ((*First)->text(), "n==-100");
}

TEST_F(LaunchMap, RulesSeeTheRecordedLaunch) {
  auto Mapped = map({{"grid.x", "ceildiv(grid.x, 2)"},
                     {"block.x", "block.x * 2"},
                     {"block.z", "grid.x + 1"},
                     {"shared", "4 * block.x * block.y - n"}});
  ASSERT_TRUE(Mapped) << Mapped.error().message();
  EXPECT_EQ(Mapped->Grid, (Dim3{4, 2, 1}));
  EXPECT_EQ(Mapped->Block, (Dim3{128, 4, 8}));
  EXPECT_EQ(Mapped->DynamicShared, 1124u);
  EXPECT_EQ(Mapped->MaxDynamicShared, 1124u);
}

TEST_F(LaunchMap, WhatNoLaunchIsHasRuleAndValue) {
  EXPECT_TRUE(failsWith(map({{"grid.x", "grid.x / 8"}}),
                        "launch map: grid.x = 'grid.x / 8' gives 0: a launch "
                        "without blocks"));
  EXPECT_TRUE(failsWith(map({{"block.y", "n"}}),
                        "block.y = 'n' gives -100: a block without threads"));
  EXPECT_TRUE(failsWith(map({{"shared", "n"}}), "no size of memory"));
  EXPECT_TRUE(
      failsWith(map({{"grid.y", "4294967296"}}), "no launch is so large"));
  EXPECT_TRUE(failsWith(map({{"grid.x", "x"}}), "unknown name 'x'"));
  EXPECT_TRUE(failsWith(map({{"grid.x", "1/0"}}), "grid.x: "));
}

TEST_F(LaunchMap, LimitsAreThoseOfDeviceAndKernel) {
  EXPECT_FALSE(limit({{"grid.y", "65535"}}));
  EXPECT_TRUE(failsWith(limit({{"grid.y", "65535 + 1"}}),
                        "grid.y = '65535 + 1' gives 65536: the device takes at "
                        "most 65535"));
  EXPECT_TRUE(failsWith(limit({{"block.x", "2 * 1024"}}), "at most 1024"));
  EXPECT_TRUE(failsWith(limit({{"block.x", "512"}}),
                        "a block of 512 x 4 x 1 threads (block.x = '512' gives "
                        "512): the kernel takes at most 1024"));
  LaunchLimits Bound;
  Bound.Threads = 128;
  EXPECT_TRUE(failsWith(limit({{"grid.x", "1"}}, Bound), "(as recorded)"));
  EXPECT_FALSE(limit({{"block.x", "32"}}, Bound));
  LaunchLimits Small;
  Small.Shared = 1000;
  Small.StaticShared = 400;
  EXPECT_FALSE(limit({{"shared", "600"}}, Small));
  EXPECT_TRUE(failsWith(limit({{"shared", "601"}}, Small),
                        "601 bytes of shared memory (shared = '601' gives 601) "
                        "beside the kernel's own 400: a block has at most "
                        "1000"));
  L.Launch.Cluster = {2, 1, 1};
  L.Launch.Grid = {8, 2, 1};
  EXPECT_TRUE(failsWith(limit({{"grid.x", "5"}}), "no whole clusters of 2"));
  EXPECT_FALSE(limit({{"grid.x", "6"}}));
}
