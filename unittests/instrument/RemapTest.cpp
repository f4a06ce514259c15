// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remapped indices are permutations of blocks and of whole warps.
#include "unittests/instrument/Harness.h"

#include "runtime/support/RemapAbi.h"

#include <set>

namespace r3::cpu {

class RemapTest : public InstrumentTest {
protected:
  void setSeed(uint64_t Seed) {
    auto Where = Module->global(remap::RemapSeed);
    ASSERT_TRUE(Where) << Where.error().message();
    ASSERT_EQ(Where->Size, sizeof(Seed));
    std::memcpy(reinterpret_cast<void *>(Where->Begin), &Seed, sizeof(Seed));
  }
};

TEST_F(RemapTest, EachBlockAndThreadIsThereOnceInItsLane) {
  const Dim3 Grids[] = {{1, 1, 1}, {7, 1, 1}, {5, 3, 2}, {64, 1, 4}};
  const Dim3 Sizes[] = {{1, 1, 1}, {100, 1, 1}, {8, 8, 3}, {32, 4, 1}};
  KernelHandle Kernel = build("places", "permute");
  for (const Dim3 &Grid : Grids)
    for (const Dim3 &Size : Sizes)
      for (uint64_t Seed : {0, 1, 2, 3, 99}) {
        const size_t Count = Grid[0] * Grid[1] * Grid[2];
        const size_t Each = Size[0] * Size[1] * Size[2];
        Buffer<int> Blocks(Count), Threads(Each), Lanes(Each);
        setSeed(Seed);
        Error E = run(Kernel, shape(Grid, Size),
                      arguments(Blocks.data(), Threads.data(), Lanes.data()));
        ASSERT_FALSE(E) << E.message();
        for (size_t I = 0; I < Count; ++I)
          EXPECT_EQ(Blocks[I], 1) << I << " of " << Count << ", " << Seed;
        for (size_t I = 0; I < Each; ++I) {
          EXPECT_EQ(Threads[I], 1) << I << " of " << Each << ", " << Seed;
          EXPECT_EQ(Lanes[I], int(I % 32));
        }
      }
}

TEST_F(RemapTest, OrdersDiffer) {
  KernelHandle Kernel = build("last", "permute");
  std::set<int> Last;
  for (uint64_t Seed : {0, 1, 2, 3, 4, 5}) {
    Buffer<int> Out(1);
    setSeed(Seed);
    launch(Kernel, 1000, 1, arguments(Out.data()));
    Last.insert(Out[0]);
  }
  EXPECT_GE(Last.size(), 4u);
}

TEST_F(RemapTest, WhatReadsNoIndexOrReadsItInAssemblyIsRefused) {
  for (const char *Kernel : {"indexless", "assembled"}) {
    auto Made = replay::instrument(bitcodeOf("Kernels"), Kernel, "permute");
    ASSERT_FALSE(Made) << Kernel;
    EXPECT_NE(Made.error().message().find(Kernel[0] == 'i'
                                              ? "reads no index"
                                              : "reads tid in inline assembly"),
              std::string::npos)
        << Made.error().message();
  }
}

} // namespace r3::cpu
