// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What diff -u writes is applied to what it was made from, for random texts;
// damaged and foreign diffs are refused.
#include "runtime/support/UnifiedDiff.h"

#include "TestFolder.h"
#include "runtime/support/Process.h"

#include <gmock/gmock.h>

#include <fstream>
#include <random>

using namespace r3;
using ::testing::HasSubstr;

namespace {

std::string diff(const std::string &Folder, const std::string &Old,
                 const std::string &New, const char *Context) {
  std::ofstream(Folder + "/old") << Old;
  std::ofstream(Folder + "/new") << New;
  SpawnOptions O;
  O.Arguments = {"diff",    Context,      "--label",       "a/src/k.cu",
                 "--label", "b/src/k.cu", Folder + "/old", Folder + "/new"};
  auto Run = runProcess(O);
  EXPECT_TRUE(Run);
  return Run ? Run->Out : "";
}

std::string randomText(std::mt19937 &Random, unsigned Lines) {
  std::string Text;
  for (unsigned I = 0; I < Lines; ++I)
    Text += std::string(1, char('a' + Random() % 4)) + "\n";
  if (Random() % 3 == 0 && !Text.empty())
    Text.pop_back(); // no end of line
  return Text;
}

TEST(UnifiedDiff, GivesTheNewText) {
  TestFolder Folder;
  std::mt19937 Random(7);
  for (int Round = 0; Round < 150; ++Round) {
    const std::string Old = randomText(Random, Random() % 30);
    const std::string New = Random() % 2
                                ? randomText(Random, Random() % 30)
                                : Old.substr(0, Old.size() / 2) + "x\n" +
                                      Old.substr(Old.size() / 2);
    if (Old == New)
      continue;
    for (const char *Context : {"-U3", "-U0", "-U1"}) {
      const std::string Text = diff(Folder.Path, Old, New, Context);
      auto Files = parseUnifiedDiff(Text, "test");
      ASSERT_TRUE(Files) << Files.error().message() << "\n" << Text;
      ASSERT_EQ(Files->size(), 1u);
      EXPECT_EQ((*Files)[0].Path, "src/k.cu");
      auto Result = (*Files)[0].apply(Old);
      ASSERT_TRUE(Result) << Result.error().message() << "\n" << Text;
      ASSERT_EQ(*Result, New) << Text;
    }
  }
}

TEST(UnifiedDiff, FitsWhereLinesWereAddedAbove) {
  auto Files = parseUnifiedDiff("--- a/k.cu\n+++ b/k.cu\n@@ -2,2 +2,2 @@\n"
                                " two\n-three\n+drei\n",
                                "test");
  ASSERT_TRUE(Files);
  auto Result = (*Files)[0].apply("zero\none\nmore\ntwo\nthree\nfour\n");
  ASSERT_TRUE(Result) << Result.error().message();
  EXPECT_EQ(*Result, "zero\none\nmore\ntwo\ndrei\nfour\n");
  EXPECT_EQ((*Files)[0].added(), "drei\n");
  Result = (*Files)[0].apply("one\ntwo\nthre\n");
  ASSERT_FALSE(Result);
  EXPECT_EQ(Result.error().code(), ErrorCode::Stale);
  EXPECT_THAT(Result.error().message(),
              HasSubstr("k.cu: the change at line 2"));
}

TEST(UnifiedDiff, RefusesWhatItDoesNotDo) {
  const std::pair<const char *, const char *> Cases[] = {
      {"hello\n", "no unified diff"},
      {"--- /dev/null\n+++ b/k.cu\n@@ -0,0 +1 @@\n+a\n", "creates a file"},
      {"--- a/k.cu\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "renames or removes"},
      {"--- a/k.cu\n+++ b/l.cu\n@@ -1 +1 @@\n-a\n+b\n", "renames or removes"},
      {"--- a/../k.cu\n+++ b/../k.cu\n@@ -1 +1 @@\n-a\n+b\n",
       "out of the root"},
      {"--- /etc/k\n+++ /etc/k\n@@ -1 +1 @@\n-a\n+b\n", "out of the root"},
      {"--- a/k.cu\n+++ b/k.cu\n", "a hunk expected"},
      {"--- a/k.cu\n+++ b/k.cu\n@@ -1,2 +1 @@\n-a\n", "ends early"},
      {"--- a/k.cu\n+++ b/k.cu\n@@ -1 +1 @@\n-a\n-b\n", "longer than it says"},
      {"--- a/k.cu\n+++ b/k.cu\n@@ -x +1 @@\n-a\n", "@@ -LINE"},
  };
  for (auto [Text, Why] : Cases) {
    auto Files = parseUnifiedDiff(Text, "p.patch");
    ASSERT_FALSE(Files) << Text;
    EXPECT_THAT(Files.error().message(), HasSubstr(Why));
    EXPECT_THAT(Files.error().message(), HasSubstr("p.patch"));
  }
}

} // namespace
