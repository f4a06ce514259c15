// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Files.h"
#include "unittests/support/TestFolder.h"

#include <csignal>
#include <sys/resource.h>

using namespace r3;

static size_t entries(const std::string &Folder) {
  size_t Count = 0;
  for ([[maybe_unused]] const auto &Entry :
       std::filesystem::directory_iterator(Folder))
    ++Count;
  return Count;
}

TEST(Files, WriteAndRead) {
  TestFolder Folder;
  std::string Path = Folder / "a.txt";
  ASSERT_FALSE(writeFileAtomically(Path, "first"));
  ASSERT_FALSE(writeFileAtomically(Path, std::string_view("a\0b", 3)));
  Expected<std::string> Text = readTextFile(Path);
  ASSERT_TRUE(Text);
  EXPECT_EQ(*Text, std::string("a\0b", 3));
  EXPECT_EQ(entries(Folder.Path), 1u) << "a temporary file was left";
}

TEST(Files, LargeAndProc) {
  TestFolder Folder;
  std::vector<uint8_t> Bytes(300000);
  for (size_t I = 0; I != Bytes.size(); ++I)
    Bytes[I] = uint8_t(I * 7);
  ASSERT_FALSE(writeFileAtomically(Folder / "b", Bytes));
  EXPECT_EQ(*readFile(Folder / "b"), Bytes);
  EXPECT_EQ(readFile(Folder / "b", Bytes.size())->size(), Bytes.size());
  EXPECT_TRUE(failsWith(readFile(Folder / "b", Bytes.size() - 1), "limit"));
  EXPECT_GT(readTextFile("/proc/self/status")->size(), 100u);
}

TEST(Files, Errors) {
  TestFolder Folder;
  Expected<std::string> Missing = readTextFile(Folder / "none");
  ASSERT_FALSE(Missing);
  EXPECT_EQ(Missing.error().code(), ErrorCode::NotFound);
  EXPECT_TRUE(failsWith(readFile(Folder.Path), "is a folder"));
  EXPECT_TRUE(failsWith(writeFileAtomically(Folder / "none/x", ""), "create"));
  ASSERT_FALSE(createFolder(Folder / "busy/inside"));
  EXPECT_TRUE(failsWith(writeFileAtomically(Folder / "busy", ""), "rename"));
  EXPECT_EQ(entries(Folder.Path), 1u) << "a temporary file was left";
}

// The file system refuses in the middle (here at a limit of the process), and
// nothing is left of the file.
TEST(Files, RefusedInTheMiddle) {
  TestFolder Folder;
  struct rlimit Before;
  getrlimit(RLIMIT_FSIZE, &Before);
  signal(SIGXFSZ, SIG_IGN);
  struct rlimit Small = {1000, Before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &Small);
  Error E = writeFileAtomically(Folder / "x", std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &Before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_TRUE(failsWith(E, "cannot write"));
  EXPECT_EQ(entries(Folder.Path), 0u);
}

TEST(Files, Folders) {
  TestFolder Folder;
  EXPECT_FALSE(createFolder(Folder / "a/b/c"));
  EXPECT_FALSE(createFolder(Folder / "a/b/c"));
  ASSERT_FALSE(writeFileAtomically(Folder / "f", ""));
  EXPECT_TRUE(createFolder(Folder / "f"));
  EXPECT_TRUE(failsWith(createFolder(Folder / "f/g"), "f/g: cannot create"));
  Expected<std::string> Private = createPrivateFolder(Folder / "p-");
  ASSERT_TRUE(Private);
  EXPECT_EQ(std::filesystem::status(*Private).permissions(),
            std::filesystem::perms::owner_all);
}
