// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks by compute-sanitizer, with a made-up one in front of the
// toolkit's: a script that starts what it is given and then says what the test
// has it say.
#include "Fixture.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace r3;
using namespace r3::testing;
using ::testing::HasSubstr;

namespace {

class SanitizerTest : public ReplayTest {
protected:
  /// Says: shell commands, after the program has ended; $tool is the tool's
  /// name, $run counts from 1.
  CheckResult check(const std::string &Says, bool Runs = true,
                    const std::string &Variant = "slow") {
    const std::filesystem::path Toolkit =
        std::filesystem::path(Folder) / "toolkit";
    std::filesystem::create_directories(Toolkit / "bin");
    std::filesystem::remove(Toolkit / "runs");
    const auto Tool = Toolkit / "bin" / "compute-sanitizer";
    std::ofstream(Tool) << "#!/bin/sh\n"
                           "tool=$2\n"
                           "until [ -f \"$1\" ]; do shift; done\n"
                           "echo $tool >> "
                        << Toolkit / "runs"
                        << "\n"
                           "run=$(wc -l < "
                        << Toolkit / "runs"
                        << ")\n"
                           "echo '========= COMPUTE-SANITIZER'\n"
                        << (Runs ? "\"$@\"\n" : "") << Says << "\n";
    std::filesystem::permissions(Tool, std::filesystem::perms::all);
    ::setenv("CUDA_PATH", Toolkit.c_str(), 1);
    auto W = fakeWith(record({}));
    ::unsetenv("CUDA_PATH");
    EvaluationRequest Request{pipeline(Variant), {0}};
    Request.Checks = {Check::Sanitizer};
    auto R = W->evaluate(Request);
    EXPECT_TRUE(R) << R.error().message();
    return R && R->Checks.size() == 1 ? R->Checks[0] : CheckResult();
  }
  /// The tools that were started, in order.
  std::string started() const {
    std::ifstream In(std::filesystem::path(Folder) / "toolkit" / "runs");
    std::string All, Each;
    while (In >> Each)
      All += Each + " ";
    return All;
  }
};

constexpr char Clean[] = "echo '========= ERROR SUMMARY: 0 errors'";
constexpr char Race[] =
    "echo '========= Error: Race reported between two writes'\n"
    "echo '========= RACECHECK SUMMARY: 1 hazard displayed'";

TEST_F(SanitizerTest, NothingFound) {
  const CheckResult R = check(Clean);
  EXPECT_TRUE(R.Made) << R.Message;
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  EXPECT_EQ(R.Message, "racecheck, synccheck");
}

TEST_F(SanitizerTest, ToolsThatCanFindNothingAreNotStarted) {
  const CheckResult R = check(Clean, /*Runs=*/true, "saxpy2");
  EXPECT_FALSE(R.Made);
  EXPECT_EQ(R.Message,
            "no racecheck: no shared memory; no synccheck: no barriers");
  EXPECT_EQ(started(), "");
}

TEST_F(SanitizerTest, ARaceOfTheVariantAlone) {
  const CheckResult R = check(std::string("if [ $run = 1 ]; then ") + Race +
                              "; else " + Clean + "; fi");
  EXPECT_EQ(R.Result, Outcome::Wrong);
  EXPECT_EQ(R.Message, "racecheck finds 1 hazard: Error: Race reported between "
                       "two writes");
}

TEST_F(SanitizerTest, ARaceOfTheOriginalIsNoReason) {
  const CheckResult R = check(std::string("if [ $tool = racecheck ]; then ") +
                              Race + "; else " + Clean + "; fi");
  EXPECT_TRUE(R.Made);
  EXPECT_EQ(R.Result, Outcome::Ok);
  EXPECT_THAT(R.Message, HasSubstr("synccheck; no racecheck: the original "
                                   "itself: racecheck finds 1 hazard"));
}

TEST_F(SanitizerTest, AToolThatDoesNotWorkIsNoReason) {
  CheckResult R = check("echo 'no device'; exit 1", /*Runs=*/false);
  EXPECT_FALSE(R.Made);
  EXPECT_THAT(R.Message, HasSubstr("no device"));
  R = check("echo 'something went wrong'");
  EXPECT_FALSE(R.Made);
  EXPECT_THAT(R.Message, HasSubstr("came to no end"));
  EXPECT_THAT(R.Message, HasSubstr("something went wrong"));
}

} // namespace
