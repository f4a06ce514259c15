// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks by compute-sanitizer, with a made-up one in front of the
// toolkit's: a script that starts what it is given and then says what the test
// has it say.
#include "Fixture.h"

#include "runtime/support/Files.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <cstring>
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
                    const std::string &Variant = "slow",
                    Check What = Check::Sanitizer, std::string Manifest = "") {
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
    auto W = fakeWith(Manifest.empty() ? record({}) : Manifest);
    ::unsetenv("CUDA_PATH");
    EvaluationRequest Request{pipeline(Variant), {0}};
    Request.Checks = {What};
    auto R = W->evaluate(Request);
    EXPECT_TRUE(R) << R.error().message();
    return R && R->Checks.size() == 1 ? R->Checks[0] : CheckResult();
  }
  CheckResult checkMemory(const std::string &Says, const std::string &Variant,
                          const std::string &Manifest = "") {
    return check(Says, /*Runs=*/true, Variant, Check::Memcheck, Manifest);
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
  const CheckResult R = check(Clean, /*Runs=*/true, "expects");
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

constexpr char Invalid[] =
    "echo '========= Invalid __global__ read of size 4 bytes'\n"
    "echo '=========     at saxpy(const float *, float *)+0x80'\n"
    "echo '=========     by thread (96,0,0) in block (3906,0,0)'\n"
    "echo '========= ERROR SUMMARY: 1 error'";

std::string firstOnly(const char *Then) {
  return std::string("if [ $run = 1 ]; then ") + Then + "; else " + Clean +
         "; fi";
}

TEST_F(SanitizerTest, MemcheckRunsOnRecordedContentsInOtherMemory) {
  const CheckResult R = checkMemory(Clean, "expects");
  EXPECT_TRUE(R.Made) << R.Message;
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  EXPECT_THAT(R.Message, HasSubstr("memcheck on 1 of 1 recordings"));
  EXPECT_THAT(R.Message, HasSubstr("no initcheck: nothing is known"));
  EXPECT_EQ(started(), "memcheck ");
  EXPECT_EQ(checkMemory(Clean, "homesick").Result, Outcome::IllegalAccess);
}

TEST_F(SanitizerTest, AnAccessOutsideOfAnAllocation) {
  const CheckResult R = checkMemory(firstOnly(Invalid), "expects");
  EXPECT_EQ(R.Result, Outcome::OutOfBounds);
  EXPECT_EQ(R.Message,
            "memcheck finds 1 error: Invalid __global__ read of size 4 bytes, "
            "at saxpy(const float *, float *)+0x80, by thread (96,0,0) in "
            "block (3906,0,0)");
  EXPECT_EQ(started(), "memcheck memcheck ");
}

TEST_F(SanitizerTest, AFindingThatEndsTheLaunchIsTold) {
  const CheckResult R = checkMemory(firstOnly(Invalid), "homesick");
  EXPECT_EQ(R.Result, Outcome::OutOfBounds);
  EXPECT_THAT(R.Message, HasSubstr("Invalid __global__ read"));
}

TEST_F(SanitizerTest, AnAccessThatTheOriginalMakesTooIsNoReason) {
  const CheckResult R = checkMemory(Invalid, "expects");
  EXPECT_FALSE(R.Made);
  EXPECT_THAT(R.Message, HasSubstr("the original itself: memcheck finds 1"));
}

TEST_F(SanitizerTest, MemoryThatHoldsAddressesIsNotMoved) {
  SaxpyOptions O;
  O.N = 64;
  const std::string Manifest = record(O);
  auto Bytes = readFile(Manifest);
  ASSERT_TRUE(Bytes);
  auto R = Recording::parse(*Bytes, Manifest);
  ASSERT_TRUE(R);
  for (auto &A : R->Allocations)
    A.Before.clear(), A.After.clear();
  std::vector<float> X(64, 3), Y(64, 1), After(64);
  std::memcpy(&X[4], &R->Allocations[1].Address, 8);
  for (size_t I = 0; I < Y.size(); ++I)
    After[I] = Y[I] + O.A * X[I];
  auto text = [](const std::vector<float> &Values) {
    return std::string(reinterpret_cast<const char *>(Values.data()), 256);
  };
  const CheckResult C = checkMemory(
      Clean, "wide", write(*R, {text(X), text(Y)}, {"", text(After)}));
  EXPECT_FALSE(C.Made);
  EXPECT_EQ(C.Message, "memory may hold addresses");
  EXPECT_EQ(started(), "");
}

} // namespace
