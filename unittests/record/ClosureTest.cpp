// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/record/Closure.h"

#include "unittests/record/FakeDevice.h"

#include <gtest/gtest.h>

using namespace r3;
using namespace r3::record;

namespace {

/// A few pieces of memory in address order, which may point to each other.
class Closure : public testing::Test {
protected:
  static constexpr size_t Words = 64;
  Closure() : Memory(4 * Words) {
    for (size_t I = 0; I < 4; ++I)
      // A gap of a word, so that one's end is not the next one's beginning.
      Targets.push_back(
          {address(I, 0), (Words - 1) * 8, MemoryKind::Device, 0, false, {}});
  }

  Address address(size_t Piece, size_t Word) {
    return reinterpret_cast<Address>(&Memory[Piece * Words + Word]);
  }
  std::vector<size_t> from(std::vector<uint64_t> Arguments,
                           std::vector<size_t> Roots = {}, bool All = false) {
    auto Found = reachable(
        D, nullptr,
        {reinterpret_cast<uint8_t *>(Arguments.data()), Arguments.size() * 8},
        Targets, Roots, {All, 1000});
    return Found ? *Found : std::vector<size_t>{99};
  }

  FakeDevice D;
  std::vector<uint64_t> Memory;
  std::vector<Allocation> Targets;
};

using Indices = std::vector<size_t>;

TEST_F(Closure, FollowsPointersThroughMemory) {
  Memory[3] = address(2, 5);
  Memory[2 * Words + 7] = address(3, 0);
  EXPECT_EQ(from({address(0, 0)}), (Indices{0, 2, 3}));
}

TEST_F(Closure, LoopsEnd) {
  Memory[0] = address(1, 0);
  Memory[Words] = address(0, 0);
  EXPECT_EQ(from({address(1, 3)}), (Indices{0, 1}));
}

TEST_F(Closure, OnePastTheEndBelongs) {
  EXPECT_EQ(from({address(1, Words - 1)}), (Indices{1}));
}

TEST_F(Closure, ABorderBelongsToBoth) {
  Targets[0].Size = Words * 8;
  EXPECT_EQ(from({address(1, 0)}), (Indices{0, 1}));
}

TEST_F(Closure, WordsAtFourByteSteps) {
  uint64_t Where = address(2, 0);
  std::vector<uint64_t> Arguments(2);
  std::memcpy(reinterpret_cast<char *>(Arguments.data()) + 4, &Where, 8);
  EXPECT_EQ(from(Arguments), (Indices{2}));
}

TEST_F(Closure, RootsAreReachedAnyway) {
  Memory[Words] = address(3, 1);
  EXPECT_EQ(from({}, {1}), (Indices{1, 3}));
}

TEST_F(Closure, EverythingOnDemand) {
  EXPECT_EQ(from({}, {}, /*All=*/true), (Indices{0, 1, 2, 3}));
}

TEST_F(Closure, NothingFromNumbers) {
  EXPECT_TRUE(from({0, 1, ~0ull, 0x1000}).empty());
}

TEST_F(Closure, ADeviceThatFailsIsAnError) {
  D.Sick = true;
  EXPECT_EQ(from({address(0, 0)}), (Indices{99}));
}

} // namespace
