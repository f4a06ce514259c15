// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a confined process can open, in processes of their own: there is no way
// back.
#include "runtime/support/Confine.h"

#include "runtime/support/Files.h"
#include "unittests/support/TestFolder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace r3 {

namespace fs = std::filesystem;

class ConfineTest : public ::testing::Test {
protected:
  TestFolder Folder;
  std::string Root = Folder.Path;
  std::string Store = Root + "/project/.r3";

  void SetUp() override {
    if (!landlockVersion())
      GTEST_SKIP() << "this kernel has no Landlock";
    fs::create_directories(Store + "/recordings");
    fs::create_directories(Root + "/cache");
    fs::create_directories(Root + "/tools/lib");
    for (const char *Name : {"/project/.r3/recordings/k", "/project/source.cu",
                             "/tools/lib/x", "/cache/old"})
      ASSERT_FALSE(writeFileAtomically(Root + Name, "text"));
  }

  /// Whether Test holds in a process that may open Allowed.
  static bool holds(const FileAccess &Allowed,
                    const std::function<bool()> &Test) {
    const pid_t Child = fork();
    if (Child == 0) {
      const auto Done = confine(Allowed);
      _exit(Done && *Done && Test() ? 0 : 1);
    }
    int Status = 0;
    return waitpid(Child, &Status, 0) == Child && WIFEXITED(Status) &&
           WEXITSTATUS(Status) == 0;
  }
  static bool opens(const std::string &Path, int Flags = O_RDONLY) {
    const int Fd = open(Path.c_str(), Flags | O_CLOEXEC, 0600);
    if (Fd >= 0)
      close(Fd);
    return Fd >= 0;
  }
  FileAccess allowed() const {
    return {pathsWithout(Root, Store), {Root + "/cache", "/proc/self"}};
  }
};

TEST_F(ConfineTest, OpensWhatIsAllowedAndNothingElse) {
  EXPECT_TRUE(holds(allowed(), [&] {
    return opens(Root + "/tools/lib/x") &&
           opens(Root + "/tools", O_DIRECTORY) &&
           opens(Root + "/project/source.cu") && opens("/proc/self/status") &&
           !opens("/etc/passwd") && !opens(Root, O_DIRECTORY);
  }));
  EXPECT_TRUE(holds(allowed(), [&] {
    return opens(Root + "/cache/new", O_CREAT | O_WRONLY) &&
           opens(Root + "/cache/old", O_WRONLY | O_TRUNC) &&
           unlink((Root + "/cache/old").c_str()) == 0 &&
           !opens(Root + "/tools/lib/x", O_WRONLY) &&
           !opens(Root + "/tools/new", O_CREAT | O_WRONLY) &&
           unlink((Root + "/tools/lib/x").c_str()) != 0;
  }));
}

TEST_F(ConfineTest, TheStoreIsReachedByNoPath) {
  const std::string File = "/recordings/k";
  ASSERT_TRUE(opens(Store + File));
  fs::create_symlink(Store, Root + "/tools/link");
  const int Kept = open(Store.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_GE(Kept, 0);
  EXPECT_TRUE(holds(allowed(), [&] {
    if (chdir(Store.c_str()) != 0) // changing there opens nothing
      return false;
    const std::string Self = "/proc/self/fd/" + std::to_string(Kept);
    return !opens(Store + File) && !opens(Store, O_DIRECTORY) &&
           !opens("recordings/k") && !opens("../.r3" + File) &&
           !opens("/proc/self/cwd" + File) && !opens(Self + File) &&
           !opens("/proc/self/root" + Store + File) &&
           !opens(Root + "/tools/link" + File) &&
           openat(Kept, "recordings/k", O_RDONLY) < 0 &&
           !opens(Store + "/new", O_CREAT | O_WRONLY);
  }));
  close(Kept);
}

TEST_F(ConfineTest, WhatItStartsIsConfinedToo) {
  EXPECT_TRUE(holds({{"/usr", "/lib", "/lib64", "/etc"}, {"/dev/null"}}, [&] {
    return system(("cat " + Store + "/recordings/k 2> /dev/null").c_str()) !=
               0 &&
           system("cat /etc/passwd > /dev/null") == 0;
  }));
}

TEST_F(ConfineTest, PathsThatAreNotThereAreLeftOut) {
  EXPECT_TRUE(holds({{Root + "/nothing", Root + "/tools"}, {Root + "/none"}},
                    [&] { return opens(Root + "/tools/lib/x"); }));
}

TEST(PathsWithout, LeaveOutWhatLeadsThere) {
  TestFolder Folder;
  const std::string Root = fs::canonical(Folder.Path);
  for (const char *Name : {"/a/b/store/x", "/a/c", "/d"})
    fs::create_directories(Root + Name);
  fs::create_symlink(Root + "/a/b/store", Root + "/a/link");
  fs::create_symlink("/usr", Root + "/a/out");
  auto Found = pathsWithout(Root, Root + "/a/b/store");
  std::sort(Found.begin(), Found.end());
  EXPECT_EQ(Found, (std::vector<std::string>{Root + "/a/c", Root + "/d"}));
  EXPECT_EQ(pathsWithout(Root + "/a/link", Root + "/a/b/store"),
            std::vector<std::string>());
  EXPECT_EQ(pathsWithout(Root + "/a/b/store/x", Root + "/a/b/store"),
            std::vector<std::string>());
  EXPECT_EQ(pathsWithout(Root + "/d", Root + "/a/b/store"),
            std::vector<std::string>{Root + "/d"});
  EXPECT_EQ(pathsWithout(Root + "/d", Root + "/dd"),
            std::vector<std::string>{Root + "/d"});
}

} // namespace r3
