// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/Store.h"
#include "unittests/support/TestFolder.h"

using namespace r3;

TEST(Store, Root) {
  TestFolder Folder;
  ASSERT_FALSE(createFolder(Folder / "a/b/c"));
  EXPECT_TRUE(failsWith(findRoot(Folder / "a/b"), "no r3.toml"));
  EXPECT_EQ(Store::pathFor(Folder / "a/b", ""), Folder / "a/b/.r3");
  ASSERT_FALSE(writeFileAtomically(Folder / "a/r3.toml", ""));
  Expected<std::string> Root = findRoot(Folder / "a/b/../b/c/");
  ASSERT_TRUE(Root) << Root.error().message();
  EXPECT_EQ(*Root, Folder / "a");
  EXPECT_EQ(Store::pathFor(Folder / "a/b/c", ""), Folder / "a/.r3");
  EXPECT_EQ(Store::pathFor(Folder / "a", "/elsewhere/"), "/elsewhere");
}

TEST(Store, WriteAndList) {
  TestFolder Folder;
  Expected<Store> Made = Store::open(Folder / "s", /*Create=*/true);
  ASSERT_TRUE(Made) << Made.error().message();
  std::vector<uint8_t> Bytes = {1, 2, 3};
  ASSERT_FALSE(Made->writeRecording("kb", "2", Bytes));
  ASSERT_FALSE(Made->writeRecording("ka", "1", Bytes));
  ASSERT_FALSE(Made->writeUnit("u", "{}"));
  ASSERT_FALSE(Made->writeModule(Digest{1, 2}, Bytes));
  ASSERT_FALSE(Made->writeImage(Digest{1, 2}, Bytes));

  Expected<Store> Again = Store::open(Folder / "s", /*Create=*/false);
  ASSERT_TRUE(Again);
  EXPECT_EQ(Again->listRecordings(),
            (std::vector<std::string>{Again->recordingPath("ka", "1"),
                                      Again->recordingPath("kb", "2")}));
  EXPECT_EQ(Again->listRecordings("kb").size(), 1u);
  EXPECT_TRUE(Again->listRecordings("kc").empty());
  EXPECT_EQ(Again->listUnits().size(), 1u);
  EXPECT_EQ(*readFile(Again->modulePath(Digest{1, 2})), Bytes);
  EXPECT_EQ(*readFile(Again->imagePath(Digest{1, 2})), Bytes);
  EXPECT_TRUE(std::filesystem::is_empty(Again->temporaryDirectory()));
  EXPECT_EQ(*readTextFile(Folder / "s/.gitignore"), "*\n");
}

TEST(Store, ContentIsWrittenOnce) {
  TestFolder Folder;
  Expected<Store> Made = Store::open(Folder / "s", /*Create=*/true);
  ASSERT_TRUE(Made);
  std::vector<uint8_t> First = {1}, Second = {2};
  ASSERT_FALSE(Made->writeModule(Digest{1, 2}, First));
  ASSERT_FALSE(Made->writeModule(Digest{1, 2}, Second));
  EXPECT_EQ(*readFile(Made->modulePath(Digest{1, 2})), First);
}

TEST(Store, NamesCannotLeaveTheStore) {
  TestFolder Folder;
  Expected<Store> Made = Store::open(Folder / "s", /*Create=*/true);
  ASSERT_TRUE(Made);
  for (const char *Name : {"", "..", "a/b", "../../x", ".hidden"}) {
    EXPECT_TRUE(Made->writeRecording(Name, "1", {})) << Name;
    EXPECT_TRUE(Made->writeRecording("k", Name, {})) << Name;
    EXPECT_TRUE(Made->writeUnit(Name, "{}")) << Name;
  }
  EXPECT_TRUE(Made->listRecordings("../recordings").empty());
}

TEST(Store, MissingAndUnwritable) {
  TestFolder Folder;
  Expected<Store> Missing = Store::open(Folder / "s", /*Create=*/false);
  ASSERT_FALSE(Missing);
  EXPECT_EQ(Missing.error().code(), ErrorCode::NotFound);
  ASSERT_FALSE(writeFileAtomically(Folder / "f", ""));
  EXPECT_TRUE(failsWith(Store::open(Folder / "f", true), "f: "));
  EXPECT_TRUE(failsWith(Store::open(Folder / "f/s", true), "store: "));
}
