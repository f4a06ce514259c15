// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clocks through libraries of the tests' own.
#include "runtime/device/cuda/Nvml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace r3;
using testing::HasSubstr;

namespace {

constexpr char Bus[] = "0000:1B:00.0";

TEST(Nvml, ReadsClocksOfNewAndOldDrivers) {
  for (const char *Library : {R3_FAKE_NVML "new.so", R3_FAKE_NVML "old.so"}) {
    auto N = Nvml::open(Library, Bus);
    ASSERT_TRUE(N) << N.error().message();
    auto Now = N->read();
    ASSERT_TRUE(Now) << Now.error().message();
    EXPECT_EQ(Now->SmMhz, 1980);
    EXPECT_EQ(Now->MemoryMhz, 3201);
    EXPECT_EQ(Now->Reasons, 0x100000004u);
  }
}

TEST(Nvml, SaysWhyThereAreNoClocks) {
  auto N = Nvml::open("libr3-no-such-nvml.so.1", Bus);
  EXPECT_EQ(N.error().code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(N.error().message(), HasSubstr("libr3-no-such-nvml.so.1"));
  N = Nvml::open("libc.so.6", Bus);
  EXPECT_EQ(N.error().code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(N.error().message(), HasSubstr("has no nvmlInit_v2"));
  N = Nvml::open(R3_FAKE_NVML "new.so", "0000:AA:00.0");
  EXPECT_THAT(N.error().message(), HasSubstr("Not Found"));
  N = Nvml::open(R3_FAKE_NVML "broken.so", Bus);
  ASSERT_TRUE(N) << N.error().message();
  auto Now = N->read();
  EXPECT_EQ(Now.error().code(), ErrorCode::CannotRunHere);
  EXPECT_THAT(Now.error().message(), HasSubstr("GPU is lost"));
}

} // namespace
