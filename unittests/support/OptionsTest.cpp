// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The environment is parsed strictly, and docs/OPTIONS.md says what the table
// says.
#include "runtime/support/Options.h"
#include "unittests/support/TestFolder.h"

#include <set>

using namespace r3;

static Expected<Environment> parse(std::vector<std::string> Strings) {
  return Environment::parse(Strings);
}

TEST(Options, Defaults) {
  Expected<Environment> Parsed = parse({"PATH=/bin", "R3X=1"});
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->text("R3_DEVICE"), "cuda");
  EXPECT_FALSE(Parsed->isSet("R3_DEVICE"));
  EXPECT_FALSE(Parsed->flag("R3_RECORD"));
  EXPECT_EQ(Parsed->number("R3_RECORD_TIMEOUT"), 10000u);
  EXPECT_TRUE(Parsed->names("R3_DISABLE").empty());
}

TEST(Options, Values) {
  Expected<Environment> Parsed = parse(
      {"R3_DEVICE=cpu", "R3_RECORD=1", "R3_RECORD_LIMIT=2GB",
       "R3_RECORD_TIMEOUT=3s", "R3_DISABLE=a,,b", "R3_QUIET=off", "R3_STORE="});
  ASSERT_TRUE(Parsed) << Parsed.error().message();
  EXPECT_EQ(Parsed->text("R3_DEVICE"), "cpu");
  EXPECT_TRUE(Parsed->isSet("R3_DEVICE"));
  EXPECT_TRUE(Parsed->flag("R3_RECORD"));
  EXPECT_EQ(Parsed->number("R3_RECORD_LIMIT"), 2ull << 30);
  EXPECT_EQ(Parsed->number("R3_RECORD_TIMEOUT"), 3000u);
  EXPECT_EQ(Parsed->names("R3_DISABLE"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(Parsed->flag("R3_QUIET"));
  EXPECT_FALSE(Parsed->isSet("R3_STORE")) << "an empty value unsets";
}

TEST(Options, MistakesAreErrors) {
  EXPECT_TRUE(failsWith(parse({"R3_RECORD=maybe"}),
                        "R3_RECORD: 'maybe' is neither 0 nor 1"));
  EXPECT_TRUE(failsWith(parse({"R3_RECORD_SKIP=-1"}), "natural number"));
  EXPECT_TRUE(failsWith(parse({"R3_RECORD_SKIP=1x"}), "'1x' is not"));
  EXPECT_TRUE(
      failsWith(parse({"R3_RECORD_SKIP=99999999999999999999"}), "too large"));
  EXPECT_TRUE(failsWith(parse({"R3_RECORD_LIMIT=8 GB"}), "512M"));
  EXPECT_TRUE(failsWith(parse({"R3_DEVCE=cpu"}),
                        "unknown variable R3_DEVCE (did you mean R3_DEVICE?)"));
  Expected<Environment> Far = parse({"R3_XYZZYX_PLUGH_ABCDEF=1"});
  ASSERT_FALSE(Far);
  EXPECT_EQ(Far.error().message(), "unknown variable R3_XYZZYX_PLUGH_ABCDEF");
  EXPECT_EQ(Far.error().code(), ErrorCode::Usage);
}

TEST(Options, Units) {
  EXPECT_EQ(*parseSize("4096"), 4096u);
  EXPECT_EQ(*parseSize("512M"), 512ull << 20);
  EXPECT_EQ(*parseSize("1TB"), 1ull << 40);
  EXPECT_FALSE(parseSize(""));
  EXPECT_FALSE(parseSize("M"));
  EXPECT_FALSE(parseSize("99999999999TB"));
  EXPECT_EQ(*parseDuration("90"), 90000u);
  EXPECT_EQ(*parseDuration("150ms"), 150u);
  EXPECT_EQ(*parseDuration("20m"), 1200000u);
  EXPECT_EQ(*parseDuration("2h"), 7200000u);
  EXPECT_EQ(*parseDuration("30d"), 2592000000u);
  EXPECT_FALSE(parseDuration("1y"));
  EXPECT_FALSE(parseDuration("1.5s"));
}

TEST(Options, TableIsSound) {
  std::set<std::string_view> Names;
  for (auto Table : {variableTable(), flagTable()})
    for (const OptionRow &Row : Table) {
      EXPECT_TRUE(Names.insert(Row.Name).second) << Row.Name << " twice";
      EXPECT_FALSE(Row.Help.empty()) << Row.Name;
      EXPECT_NE(Row.Help.back(), '.') << Row.Name;
    }
  // Every default is well-formed: else the table itself would be an error.
  for (const OptionRow &Row : variableTable())
    if (!Row.Default.empty()) {
      EXPECT_TRUE(
          parse({std::string(Row.Name) + "=" + std::string(Row.Default)}))
          << Row.Name;
    }
}

static void putTable(std::string &Out, std::span<const OptionRow> Rows) {
  Out += "| Name | Type | Default | Read by | Meaning |\n"
         "| --- | --- | --- | --- | --- |\n";
  for (const OptionRow &Row : Rows) {
    std::string Default(Row.Default);
    Out += "| `" + std::string(Row.Name) + "` | " + std::string(Row.Type) +
           " | " + (Default.empty() ? "" : "`" + Default + "`") + " | " +
           std::string(Row.Reader) + " | " + std::string(Row.Help) + " |\n";
  }
}

static std::string expectedPage() {
  std::string Out =
      "# Options\n\n"
      "Made from `runtime/support/Options.def`; a test compares them.\n\n"
      "Sizes take K, M, G, T (powers of 1024); times take ms, s, m, h, d. A "
      "value "
      "that\nis not of its type, or an unknown `R3_` variable, is an error.\n\n"
      "## Environment variables\n\n";
  putTable(Out, variableTable());
  Out += "\n## Flags of clang-r3\n\n";
  putTable(Out, flagTable());
  return Out;
}

TEST(Options, PageAgreesWithTable) {
  Expected<std::string> Page = readTextFile(R3_SOURCE_DIR "/docs/OPTIONS.md");
  std::string Wanted = expectedPage();
  EXPECT_TRUE(Page && *Page == Wanted) << "docs/OPTIONS.md should be:\n"
                                       << Wanted;
}
