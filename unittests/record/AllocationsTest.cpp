// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/record/Allocations.h"

#include <gtest/gtest.h>

using namespace r3;
using namespace r3::record;

namespace {

Allocation at(Address Begin, uint64_t Size, int Ordinal = 0) {
  return {Begin, Size, MemoryKind::Device, Ordinal, false, {}};
}

TEST(Allocations, FindsByAnyAddressInside) {
  Allocations A;
  A.add(at(0x1000, 0x100));
  A.add(at(0x2000, 0x100));
  EXPECT_EQ(A.find(0x1000)->Begin, 0x1000u);
  EXPECT_EQ(A.find(0x20ff)->Begin, 0x2000u);
  EXPECT_FALSE(A.find(0x2100));
  EXPECT_FALSE(A.find(0xfff));
  EXPECT_EQ(A.liveBytes(), 0x200u);
}

TEST(Allocations, ANewOneTakesThePlaceOfWhatItOverlaps) {
  Allocations A;
  A.add(at(0x1000, 0x100));
  A.add(at(0x1100, 0x100));
  A.add(at(0x1200, 0x100));
  A.add(at(0x10f0, 0x20));
  ASSERT_EQ(A.snapshot().size(), 2u);
  EXPECT_EQ(A.snapshot()[0].Begin, 0x10f0u);
  EXPECT_EQ(A.snapshot()[1].Begin, 0x1200u);
  EXPECT_EQ(A.liveBytes(), 0x120u);
}

TEST(Allocations, RemovesByBeginAlone) {
  Allocations A;
  A.add(at(0x1000, 0x100));
  EXPECT_FALSE(A.remove(0x1010));
  EXPECT_EQ(A.remove(0x1000)->Size, 0x100u);
  EXPECT_TRUE(A.snapshot().empty());
  EXPECT_EQ(A.liveBytes(), 0u);
}

TEST(Allocations, ResetTakesOneDevice) {
  Allocations A;
  A.add(at(0x1000, 0x100, 0));
  A.add(at(0x2000, 0x100, 1));
  A.removeDevice(0);
  ASSERT_EQ(A.snapshot().size(), 1u);
  EXPECT_EQ(A.snapshot()[0].Ordinal, 1);
}

TEST(Allocations, IgnoresNothing) {
  Allocations A;
  A.add(at(0, 0x100));
  A.add(at(0x1000, 0));
  EXPECT_TRUE(A.snapshot().empty());
}

} // namespace
