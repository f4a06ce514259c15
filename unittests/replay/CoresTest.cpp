// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotas of control groups, in folders that look like them.
#include "wrapper/replay/Cores.h"

#include "unittests/support/TestFolder.h"

#include <filesystem>
#include <fstream>

using namespace r3;
using namespace r3::replay;

namespace {

class CoresTest : public ::testing::Test {
protected:
  void group(const std::string &Name, const std::string &Quota) {
    std::filesystem::create_directories(Root.Path + Name);
    std::ofstream(Root.Path + Name + "/cpu.max") << Quota << "\n";
  }
  unsigned cores(const std::string &Group) {
    return quotaCores(Root.Path, Group);
  }
  TestFolder Root;
};

TEST_F(CoresTest, WithoutAQuotaThereIsNoLimit) {
  EXPECT_EQ(cores("/"), 0u);
  EXPECT_EQ(cores("/not/there"), 0u);
  group("/a", "max 100000");
  EXPECT_EQ(cores("/a"), 0u);
  group("/b", "nonsense");
  EXPECT_EQ(cores("/b"), 0u);
  group("/c", "100000 0");
  EXPECT_EQ(cores("/c"), 0u);
}

TEST_F(CoresTest, TheSmallestQuotaCounts) {
  group("/a", "400000 100000");
  group("/a/b", "max 100000");
  EXPECT_EQ(cores("/a/b"), 4u);
  group("/a/b", "150000 100000");
  EXPECT_EQ(cores("/a/b"), 2u);
  group("/a/b", "900000 100000");
  EXPECT_EQ(cores("/a/b"), 4u);
  group("", "50000 100000"); // as a container sees its own
  EXPECT_EQ(cores("/a/b"), 1u);
  EXPECT_EQ(cores("/"), 1u);
}

TEST_F(CoresTest, ThereIsAtLeastOne) { EXPECT_GE(usableCores(), 1u); }

} // namespace
