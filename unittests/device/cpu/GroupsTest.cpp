// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cooperative groups of a block and of a warp (Groups.cu): each operation
// against the same on the group's members, found here.
#include "unittests/device/cpu/Harness.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace r3::cpu {

class GroupsTest : public CpuTest {
protected:
  GroupsTest() { File = "Groups"; }
};

/// The threads of I's group, in order of rank.
using Members = std::function<std::vector<uint32_t>(uint32_t I)>;

static Members those(std::function<uint32_t(uint32_t)> GroupOf) {
  return [=](uint32_t I) {
    std::vector<uint32_t> Result;
    for (uint32_t Other = 0; Other < 64; ++Other)
      if (GroupOf(Other) == GroupOf(I))
        Result.push_back(Other);
    return Result;
  };
}

/// What Groups.cu's operations() gives thread I.
template <typename T>
static std::vector<T> expected(const std::vector<T> &In,
                               const std::vector<uint32_t> &Group, uint32_t I) {
  auto Rank = static_cast<size_t>(std::find(Group.begin(), Group.end(), I) -
                                  Group.begin());
  T Sum = 0, Before = 0, Least = In[I], Most = In[I];
  int Above = 0;
  for (size_t R = 0; R < Group.size(); ++R) {
    T Value = In[Group[R]];
    Sum += Value;
    Before += R < Rank ? Value : 0;
    Least = std::min(Least, Value);
    Most = std::max(Most, Value);
    Above += Value > 40;
  }
  bool IsLast = Rank + 1 == Group.size();
  bool All = Above == static_cast<int>(Group.size());
  return {static_cast<T>(Rank),
          static_cast<T>(Group.size()),
          In[Group[0]],
          Rank ? In[Group[Rank - 1]] : 0,
          IsLast ? 0 : In[Group[Rank + 1]],
          Sum,
          Least,
          Most,
          Before + In[I],
          Before,
          static_cast<T>((Above > 0) * 2 + All),
          static_cast<T>(Above)};
}

template <typename T> class GroupsOf : public GroupsTest {};
using Values = ::testing::Types<int, float, double, long long>;
template <typename T> static const char *kernelOf() {
  return std::is_same_v<T, int>      ? "groupsOfInts"
         : std::is_same_v<T, float>  ? "groupsOfFloats"
         : std::is_same_v<T, double> ? "groupsOfDoubles"
                                     : "groupsOfLongs";
}
TYPED_TEST_SUITE(GroupsOf, Values);

TYPED_TEST(GroupsOf, ReducesScansAndShuffles) {
  using T = TypeParam;
  std::vector<T> Values(64);
  for (uint32_t I = 0; I < 64; ++I)
    Values[I] = static_cast<T>(I * 37 % 101) - 20;
  Buffer<T> In(Values), Out(64 * 48);
  this->mustRun(kernelOf<T>(), shape({1, 1, 1}, {64, 1, 1}),
                arguments(In.data(), Out.data()));
  Members Groups[] = {
      those([](uint32_t I) { return I / 32; }),
      those([](uint32_t I) { return I / 4; }),
      those([](uint32_t I) { return I / 32 * 4 + (I % 3 == 0 ? 1 : 0); }),
      those([](uint32_t I) { return I / 32 * 4 + (I % 8 < 3); })};
  for (uint32_t I = 0; I < 64; ++I)
    for (int Which = 0; Which < 4; ++Which) {
      if (Which == 2 && I % 3)
        continue;
      std::vector<T> Wanted = expected(Values, Groups[Which](I), I);
      for (int K = 0; K < 12; ++K)
        EXPECT_EQ(Out[48 * I + 12 * Which + K], Wanted[K])
            << "operation " << K << " of group " << Which << " in thread " << I;
    }
}

TEST_F(GroupsTest, CombinesBitsAndMatches) {
  std::vector<uint32_t> Values(64);
  for (uint32_t I = 0; I < 64; ++I)
    Values[I] = 0x10000 + I * I * 7;
  Values[63] = 1 << 24; // the second warp does not match
  Buffer<uint32_t> In(Values), Out(64 * 8);
  mustRun("bits", shape({1, 1, 1}, {64, 1, 1}),
          arguments(In.data(), Out.data()));
  for (uint32_t I = 0; I < 64; ++I) {
    uint32_t And = ~0u, Or = 0, Xor = 0, Same = 0, Odd = 0, AllSame = 1;
    for (uint32_t L = 0; L < 32; ++L) {
      uint32_t Other = Values[I / 32 * 32 + L];
      And &= Other;
      Or |= Other;
      Xor ^= Other;
      Same |= (Other % 5 == Values[I] % 5) << L;
      Odd += Other % 2 == Values[I] % 2;
      AllSame &= Other / 1000 == Values[I] / 1000;
    }
    uint32_t Wanted[] = {And,    Or,    Xor, Same, AllSame ? ~0u + 1 : 0,
                         I / 32, I % 8, Odd};
    for (int K = 0; K < 8; ++K)
      EXPECT_EQ(Out[8 * I + K], Wanted[K]) << K << " in thread " << I;
  }
}

TEST_F(GroupsTest, RunsTilesOfSeveralWarps) {
  std::vector<int> Values(256);
  for (int I = 0; I < 256; ++I)
    Values[I] = I * 3;
  Buffer<int> In(Values), Out(256 * 4);
  mustRun("wide", shape({1, 1, 1}, {256, 1, 1}),
          arguments(In.data(), Out.data()));
  auto Value = [](int I) { return 3 * (255 - I); };
  for (int I = 0; I < 256; ++I) {
    int First = I / 128 * 128, Sum = 0;
    for (int L = 0; L < 128; ++L)
      Sum += Value(First + L);
    EXPECT_EQ(Out[4 * I], Sum);
    EXPECT_EQ(Out[4 * I + 1], Value(First + 5));
    EXPECT_EQ(Out[4 * I + 2], I / 128 * 10 + (First == 128));
    EXPECT_EQ(Out[4 * I + 3], 3 * ((I + 1) % 256));
  }
}

TEST_F(GroupsTest, KnowsTheLanesOfEachTurn) {
  Buffer<uint32_t> Out(64 * 4);
  for (const char *Level : {"O0", "O1", "O2", "O3"}) {
    std::fill(Out.data(), Out.data() + Out.size(), 0);
    Options.Level = Level;
    mustRun("actives", shape({1, 1, 1}, {64, 1, 1}), arguments(Out.data()));
    for (uint32_t I = 0; I < 64; ++I)
      for (uint32_t Turn = 0; Turn < 4; ++Turn)
        EXPECT_EQ(Out[4 * I + Turn], Turn <= I % 32 / 8 ? ~0u << 8 * Turn : 0u)
            << Level << " thread " << I << " turn " << Turn;
  }
}

TEST_F(GroupsTest, TellsTheSidesOfABranchApart) {
  for (const char *Level : {"O0", "O2"}) {
    Buffer<uint32_t> Out(32 * 3);
    Options.Level = Level;
    mustRun("branches", shape({1, 1, 1}, {32, 1, 1}), arguments(Out.data()));
    for (uint32_t I = 0; I < 32; ++I) {
      uint32_t Size = I % 4 ? 24 : 8;
      EXPECT_EQ(Out[3 * I], Size) << Level << " thread " << I;
      EXPECT_EQ(Out[3 * I + 1], I % 4 ? 31u : 112u) << Level;
      EXPECT_EQ(Out[3 * I + 2], Size) << Level << " thread " << I;
    }
  }
}

} // namespace r3::cpu
