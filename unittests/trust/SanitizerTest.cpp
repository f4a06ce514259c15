// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Sanitizer.h"

#include <gtest/gtest.h>

using namespace r3::trust;

TEST(SanitizerTest, NothingFound) {
  const auto R = readSanitizerReport(
      "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n");
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Findings, 0u);
  EXPECT_EQ(R->First, "");
}

TEST(SanitizerTest, TheFirstHazardIsTold) {
  const auto R = readSanitizerReport(
      "========= COMPUTE-SANITIZER\n"
      "what the program prints\n"
      "========= Error: Race reported between Write access at rowsum(...)+0x1\n"
      "=========     and Read access at rowsum(...)+0x2 [64 hazards]\n"
      "=========\n"
      "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 "
      "warning)\n");
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Findings, 2u);
  EXPECT_EQ(R->First, "Error: Race reported between Write access at "
                      "rowsum(...)+0x1, and Read access at rowsum(...)+0x2 [64 "
                      "hazards]");
}

// As the manual has them, with what the host did.
TEST(SanitizerTest, PlaceAndThreadAreTold) {
  auto R = readSanitizerReport(
      "========= COMPUTE-SANITIZER\n"
      "========= Invalid __global__ write of size 4 bytes\n"
      "=========     at out_of_bounds_kernel()+0x90 in memcheck_demo.cu:18\n"
      "=========     by thread (0,0,0) in block (0,0,0)\n"
      "=========     Access to 0x87654320 is out of bounds\n"
      "=========     and is 140,156,205,251,808 bytes before the nearest "
      "allocation at 0x7f7857c00000 of size 1,024 bytes\n"
      "=========     Saved host backtrace up to driver entry point at kernel "
      "launch time\n"
      "=========         Host Frame: run_out_of_bounds() in memcheck_demo.cu\n"
      "=========\n"
      "========= Invalid __global__ read of size 8 bytes\n"
      "=========     at other()+0x10\n"
      "========= ERROR SUMMARY: 2 errors\n");
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Findings, 2u);
  EXPECT_EQ(R->First,
            "Invalid __global__ write of size 4 bytes, at "
            "out_of_bounds_kernel()+0x90 in memcheck_demo.cu:18, by thread "
            "(0,0,0) in block (0,0,0), Access to 0x87654320 is out of bounds, "
            "and is 140,156,205,251,808 bytes before the nearest allocation at "
            "0x7f7857c00000 of size 1,024 bytes");
  R = readSanitizerReport(
      "========= COMPUTE-SANITIZER\n"
      "========= Uninitialized __global__ memory read of size 4 bytes\n"
      "=========     at vectorAdd(int *)+0x70 in memset_error.cu:41\n"
      "=========     by thread (31,0,0) in block (1,0,0)\n"
      "=========     Address 0x7f3c7ec000fc\n"
      "========= ERROR SUMMARY: 96 errors\n");
  ASSERT_TRUE(R);
  EXPECT_EQ(R->First,
            "Uninitialized __global__ memory read of size 4 bytes, at "
            "vectorAdd(int *)+0x70 in memset_error.cu:41, by thread (31,0,0) "
            "in block (1,0,0), Address 0x7f3c7ec000fc");
}

TEST(SanitizerTest, WithoutASummaryItSaysNothing) {
  EXPECT_FALSE(readSanitizerReport(""));
  EXPECT_FALSE(readSanitizerReport("========= COMPUTE-SANITIZER\n"));
  EXPECT_FALSE(readSanitizerReport("========= ERROR SUMMARY: many errors\n"));
}
