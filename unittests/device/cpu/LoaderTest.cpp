// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU device as programs get it: through libr3-cpu.so, opened at run time.
#include "runtime/device/Device.h"

#include <gtest/gtest.h>

namespace r3 {

TEST(CpuLoader, OpensTheDevice) {
  auto Opened = openCpuDevice();
  ASSERT_TRUE(bool(Opened)) << Opened.error().message();
  Device &D = **Opened;
  DeviceIdentity Identity = D.identity();
  EXPECT_EQ(Identity.Backend, "cpu");
  EXPECT_EQ(Identity.Arch.rfind("x86-64", 0), 0u);
  EXPECT_GT(Identity.Multiprocessors, 0u);
  EXPECT_GT(Identity.L2Bytes, 0u);
  auto Where = D.allocate(1 << 20);
  ASSERT_TRUE(bool(Where));
  EXPECT_FALSE(D.fill(*Where, 7, 1 << 20, nullptr));
  auto Digests = D.chunkDigests(*Where, 1 << 20, nullptr, 10000);
  ASSERT_TRUE(bool(Digests)) << Digests.error().message();
  std::vector<uint8_t> Same(ChunkBytes, 7);
  EXPECT_EQ(*Digests, std::vector<Digest>(4, chunkDigest(Same)));
  EXPECT_FALSE(D.free(*Where));
}

// The engine is one a process: a second handle sees the first one's memory.
TEST(CpuLoader, SharesOneEngine) {
  auto First = openCpuDevice(), Second = openCpuDevice();
  ASSERT_TRUE(First && Second);
  auto Where = (*First)->allocate(100);
  ASSERT_TRUE(bool(Where));
  auto Found = (*Second)->allocationOf(*Where + 50);
  ASSERT_TRUE(bool(Found));
  EXPECT_EQ(Found->Begin, *Where);
  EXPECT_EQ(Found->Size, 100u);
  First->reset(); // the first handle goes, the engine stays
  EXPECT_FALSE((*Second)->free(*Where));
}

} // namespace r3
