// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line, completion, and text for people.
#include "wrapper/r3/CommandLine.h"
#include "unittests/support/TestFolder.h"
#include "wrapper/r3/Text.h"

#include <gmock/gmock.h>

using namespace r3;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Expected<ParsedLine> parse(std::vector<std::string> Words) {
  return Parser().parse(std::move(Words));
}

TEST(CommandLineTest, CutsOffTheProgram) {
  auto Line = parse({"record", "-k", "a", "--", "./app", "-k", "--", "x"});
  ASSERT_TRUE(Line) << Line.error().message();
  EXPECT_STREQ(Line->Row->Name, "record");
  EXPECT_THAT(Line->Program, ElementsAre("./app", "-k", "--", "x"));
  EXPECT_TRUE(failsWith(parse({"list", "--", "x"}), "nothing may follow --"));
}

TEST(CommandLineTest, TakesTheDeviceOnEitherSide) {
  EXPECT_EQ(parse({"--device", "cpu", "list"})->Device, "cpu");
  EXPECT_EQ(parse({"list", "--device", "cpu"})->Device, "cpu");
  EXPECT_TRUE(parse({"list", "--verbose"})->Verbose);
  EXPECT_TRUE(failsWith(parse({"list", "--device", "gpu"}), "gpu"));
  EXPECT_TRUE(failsWith(parse({"--device", "cpu", "init"}), "means nothing"));
  EXPECT_TRUE(failsWith(parse({"init", "--device", "cpu"}), "--device"));
}

TEST(CommandLineTest, NamesTheNearestCommand) {
  EXPECT_TRUE(failsWith(parse({"recrd"}), "did you mean 'record'?"));
  EXPECT_TRUE(failsWith(parse({"--device", "cpu", "recrd"}), "'record'"));
  EXPECT_TRUE(failsWith(parse({"list", "--jsn"}), "r3 list --help"));
  EXPECT_EQ(parse({"list", "--jsn"}).error().code(), ErrorCode::Usage);
}

TEST(CommandLineTest, RefusesMalformedValues) {
  EXPECT_TRUE(failsWith(parse({"remix", "--budget", "soon"}), "soon"));
  EXPECT_TRUE(failsWith(parse({"remix", "--max-evals", "-3"}), "-3"));
  EXPECT_TRUE(failsWith(parse({"remix", "--max-evals", "3x"}), "3x"));
  EXPECT_TRUE(failsWith(parse({"record", "--limit", "8XB", "--", "a"}), "8XB"));
  EXPECT_TRUE(failsWith(parse({"record", "--min-share", "101"}), "101"));
  EXPECT_TRUE(failsWith(parse({"apply", "--accept", "strong"}), "strong"));
}

TEST(CommandLineTest, EveryCommandHasHelpWithExamples) {
  for (const CommandRow &Row : commandTable()) {
    auto Line = parse({Row.Name, "--help"});
    ASSERT_TRUE(Line) << Row.Name;
    EXPECT_THAT(Line->Help, HasSubstr("Examples:"));
    EXPECT_THAT(Line->Help, HasSubstr("Usage: r3 " + std::string(Row.Name)));
    EXPECT_EQ(Line->Help, parse({"help", Row.Name})->Help);
  }
  EXPECT_THAT(parse({})->Help, HasSubstr("A first session:"));
}

TEST(CompletionTest, OffersCommandsOptionsAndValues) {
  EXPECT_THAT(completeLine({"re"}), ElementsAre("record", "replay", "remix"));
  EXPECT_THAT(completeLine({"list", "--c"}), ElementsAre("--classes"));
  EXPECT_THAT(completeLine({"list", "--device", ""}),
              ElementsAre("cuda", "cpu"));
  EXPECT_THAT(completeLine({"completion", "z"}), ElementsAre("zsh"));
  EXPECT_THAT(completeLine({}), Contains("doctor"));
}

TEST(TextTest, WritesNumbersForPeople) {
  EXPECT_EQ(bytesText(0), "0 bytes");
  EXPECT_EQ(bytesText(1536), "1.5 KB");
  EXPECT_EQ(bytesText(8ull << 30), "8.0 GB");
  EXPECT_EQ(durationText(999), "999 ns");
  EXPECT_EQ(durationText(63200), "63.2 us");
  EXPECT_EQ(durationText(2.5e9), "2.5 s");
  EXPECT_EQ(clockText(370000), "06:10");
  EXPECT_EQ(clockText(3723000), "1:02:03");
  EXPECT_EQ(countText(4812), "4,812");
  EXPECT_EQ(countText(1234567), "1,234,567");
  EXPECT_EQ(percentText(0.621), "62.1 %");
  EXPECT_EQ(percentText(0.0005), "0.05 %");
  EXPECT_EQ(plural(1, "kernel"), "1 kernel");
  EXPECT_EQ(plural(0, "kernel"), "0 kernels");
}

TEST(TextTest, KeepsTerminalsSafe) {
  EXPECT_EQ(printable("a\x1b[31m\nb"), "a?[31m?b");
  EXPECT_EQ(printable("größe"), "größe");
}

TEST(TextTest, ShortensInTheMiddle) {
  EXPECT_EQ(shortened("abc", 10), "abc");
  EXPECT_EQ(shortened("abcdefghijklmnop", 9), "abcd...op");
  // No half of a character is left.
  std::string Long;
  for (int I = 0; I < 40; ++I)
    Long += "ö";
  for (size_t Width = 5; Width < 40; ++Width) {
    std::string Short = shortened(Long, Width);
    size_t Dots = Short.find("...");
    EXPECT_EQ(Dots % 2, 0u);
    EXPECT_EQ((Short.size() - Dots - 3) % 2, 0u);
  }
}

TEST(TextTest, LinesUpColumns) {
  Table T({"NAME", ">SIZE", "NOTE"});
  T.add({"ä", "5", "x"});
  T.add({"\x1b[32mlonger\x1b[0m", "1,000", ""});
  EXPECT_EQ(T.text(), "NAME     SIZE  NOTE\n"
                      "ä           5  x\n"
                      "\x1b[32mlonger\x1b[0m  1,000\n");
}

} // namespace
