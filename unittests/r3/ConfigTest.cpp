// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3.toml: the template says what is true, and mistakes are named.
#include "wrapper/r3/Config.h"
#include "unittests/support/TestFolder.h"

#include <regex>

using namespace r3;

namespace {

TEST(ConfigTest, TheTemplateChangesNothing) {
  auto C = Config::parse(ConfigTemplate, "r3.toml");
  ASSERT_TRUE(C) << C.error().message();
  EXPECT_FALSE(C->RecordLimitBytes || C->RecordClasses || C->RecordCount ||
               C->RecordMinShare || C->RemixBudgetMs || C->RemixPatience ||
               !C->RemixSpace.empty() || C->Space.Edits ||
               !C->Space.Values.empty());
}

TEST(ConfigTest, TheTemplatesCommentsAreTheDefaults) {
  // "# key = value   # explanation" becomes "key = value".
  std::string Text = std::regex_replace(std::string(ConfigTemplate),
                                        std::regex("\n# ([a-z-]+ = )"), "\n$1");
  auto C = Config::parse(Text, "r3.toml");
  ASSERT_TRUE(C) << C.error().message() << "\n" << Text;
  EXPECT_EQ(C->RecordLimitBytes, 8ull << 30);
  EXPECT_EQ(C->RecordClasses, 3u);
  EXPECT_EQ(C->RecordCount, 2u);
  EXPECT_EQ(C->RecordMinShare, 1.0);
  EXPECT_EQ(C->RemixBudgetMs, 20u * 60 * 1000);
  EXPECT_EQ(C->RemixSpace, "full");
  EXPECT_EQ(C->RemixPatience, 500u);
  EXPECT_EQ(C->Space.Edits, 12u);
}

TEST(ConfigTest, AnEmptyFileIsARoot) {
  EXPECT_TRUE(Config::parse("", "r3.toml"));
}

TEST(ConfigTest, NamesMistakesWithTheirLine) {
  auto Fails = [](const char *Text, const char *Part) {
    return failsWith(Config::parse(Text, "r3.toml"), Part);
  };
  EXPECT_TRUE(Fails("format = 1\n[record]\nlimits = \"8GB\"",
                    "r3.toml: line 3: unknown key 'limits' (did you mean "
                    "limit?)"));
  EXPECT_TRUE(Fails("[record]\nlimit = 8", "a text in quotes"));
  EXPECT_TRUE(Fails("[record]\nlimit = \"8XB\"", "8XB"));
  EXPECT_TRUE(Fails("[record]\ncount = 0", "from 1"));
  EXPECT_TRUE(Fails("[record]\nmin-share = 101", "from 0 to 100"));
  EXPECT_TRUE(Fails("[remix]\nbudget = \"soon\"", "soon"));
  EXPECT_TRUE(Fails("[remix]\nspace = \"small\"",
                    "line 2: \"full\" or \"applicable\" or \"thin\" expected"));
  EXPECT_TRUE(Fails("[remix]\npatience = 0", "from 1"));
  EXPECT_TRUE(Fails("[space]\nregisters = [32]",
                    "r3.toml: line 2: the search space has no 'registers'; it "
                    "has edits, base, passes, level"));
  EXPECT_TRUE(Fails("[space]\nregisters = []", "has no 'registers'"));
  EXPECT_TRUE(Fails("[space]\nmaxnreg = [32, 33]", "'33' is none of 32, 40"));
  EXPECT_TRUE(Fails("[space]\nmaxnreg = 32", "line 2: a list expected"));
  EXPECT_TRUE(Fails("[space]\nmaxnreg = [1.5]", "a number or a text"));
  EXPECT_TRUE(Fails("[space]\nedits = 13", "from 0 to 12"));
  EXPECT_TRUE(Fails("[space]\nedits = [1]", "from 0 to 12"));
  EXPECT_TRUE(Fails("record = 3", "a table expected"));
  EXPECT_TRUE(Fails("[record", "line 1"));
  auto Newer = Config::parse("format = 2", "r3.toml");
  EXPECT_TRUE(failsWith(Newer, "format 2, this r3 reads 1"));
  EXPECT_EQ(Newer.error().code(), ErrorCode::Stale);
}

TEST(ConfigTest, LimitsTheSpace) {
  auto C = Config::parse("[space]\nedits = 3\nmaxnreg = [32, 64]\n"
                         "passes = [\"licm\"]\nunroll-count = []",
                         "r3.toml");
  ASSERT_TRUE(C) << C.error().message();
  EXPECT_EQ(C->Space.Edits, 3u);
  using Values = std::vector<std::string>;
  EXPECT_EQ(C->Space.Values,
            (std::map<std::string, Values>{{"maxnreg", {"32", "64"}},
                                           {"passes", {"licm"}},
                                           {"unroll-count", {}}}));
}

} // namespace
