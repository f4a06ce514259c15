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
                      "rowsum(...)+0x1");
}

TEST(SanitizerTest, WithoutASummaryItSaysNothing) {
  EXPECT_FALSE(readSanitizerReport(""));
  EXPECT_FALSE(readSanitizerReport("========= COMPUTE-SANITIZER\n"));
  EXPECT_FALSE(readSanitizerReport("========= ERROR SUMMARY: many errors\n"));
}
