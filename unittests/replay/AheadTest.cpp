// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several requests under way: those that wait are built meanwhile, answers come
// in order, and what is given up leaves nothing behind.
#include "Fixture.h"
#include "RawClient.h"

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <thread>

using namespace r3;
using namespace r3::testing;
using ::testing::HasSubstr;

namespace {

class AheadTest : public ReplayTest {
protected:
  static void submit(Worker &W, const std::string &Text, unsigned Pairs = 0,
                     bool Once = false) {
    EvaluationRequest What{pipeline(Text), {0}, Pairs, /*Seed=*/1};
    What.Once = Once;
    Error E = W.submit(What);
    EXPECT_FALSE(E) << E.message();
  }
  static EvaluationReport next(Worker &W) {
    auto R = W.next();
    EXPECT_TRUE(R) << R.error().message();
    return R ? *R : EvaluationReport();
  }
};

TEST_F(AheadTest, ACompileWorkerThatEndsLosesItsBuildAlone) {
  auto W = fakeWith(record({}));
  EXPECT_EQ(W->compilers(), 3u);
  EXPECT_EQ(descendants("fake-compile").size(), 1u);
  submit(*W, "slow", /*Pairs=*/30);
  for (const char *Text : {"die", "saxpy", "sleep", "wrong", "die", "slow"})
    submit(*W, Text);
  const EvaluationReport First = next(*W);
  EXPECT_EQ(First.Result, Outcome::Ok) << First.Message;
  EXPECT_EQ(First.VariantNs.size(), 30u);
  EXPECT_EQ(next(*W).Result, Outcome::BuildCrashed);
  EXPECT_EQ(next(*W).Code, contentDigest("saxpy").hex());
  EXPECT_EQ(next(*W).Result, Outcome::BuildTimeout);
  EXPECT_EQ(next(*W).Result, Outcome::Wrong);
  EXPECT_EQ(next(*W).Result, Outcome::BuildCrashed);
  const EvaluationReport Last = next(*W);
  EXPECT_EQ(Last.Result, Outcome::Ok) << Last.Message;
  EXPECT_EQ(Last.Code, contentDigest("slow").hex());
  // The one for everything else, and up to three for what waits.
  const size_t Compilers = descendants("fake-compile").size();
  EXPECT_GE(Compilers, 2u);
  EXPECT_LE(Compilers, 4u);
}

TEST_F(AheadTest, NothingElseComesInBetween) {
  auto W = fakeWith(record({}));
  submit(*W, "saxpy");
  auto P = W->prepare(0, 1);
  ASSERT_FALSE(P);
  EXPECT_THAT(P.error().message(), HasSubstr("what was submitted"));
  EXPECT_FALSE(W->isLost());
  EXPECT_EQ(next(*W).Result, Outcome::Ok);
  auto R = W->next();
  ASSERT_FALSE(R);
  EXPECT_THAT(R.error().message(), HasSubstr("nothing was submitted"));
  EXPECT_FALSE(W->isLost());
}

TEST_F(AheadTest, WhatIsDroppedIsNotAnswered) {
  auto W = fakeWith(record({}));
  submit(*W, "slow", /*Pairs=*/10000);
  for (int I = 0; I < 10; ++I)
    submit(*W, "wrong");
  W->drop();
  submit(*W, "saxpy", /*Pairs=*/1);
  const EvaluationReport R = next(*W);
  EXPECT_EQ(R.Result, Outcome::Ok) << R.Message;
  EXPECT_EQ(R.Code, contentDigest("saxpy").hex());
}

TEST_F(AheadTest, EachBinaryIsRunOnce) {
  auto W = fakeWith(record({}));
  Error E = W->know({{contentDigest("crash").hex(), "", ""}});
  ASSERT_FALSE(E) << E.message();
  for (const char *Text : {"crash", "wrong", "wrong", "saxpy"})
    submit(*W, Text, 0, /*Once=*/true);
  EXPECT_EQ(next(*W).Result, Outcome::Duplicate);
  EXPECT_EQ(next(*W).Result, Outcome::Wrong);
  const EvaluationReport Again = next(*W);
  EXPECT_EQ(Again.Result, Outcome::Duplicate);
  EXPECT_EQ(Again.Code, contentDigest("wrong").hex());
  EXPECT_EQ(next(*W).Result, Outcome::Ok);
  submit(*W, "wrong"); // who does not ask for it has it run
  EXPECT_EQ(next(*W).Result, Outcome::Wrong);
  E = W->load({record({})}); // another kernel, for all that is known
  ASSERT_FALSE(E) << E.message();
  submit(*W, "wrong", 0, /*Once=*/true);
  EXPECT_EQ(next(*W).Result, Outcome::Wrong);
}

TEST_F(AheadTest, ARequestBehindALoadIsBuiltFromWhatIsLoaded) {
  SaxpyOptions Other;
  Other.Kernel = "slow";
  RawClient C;
  C.send(1, R"({"verb":"hello","backend":"cuda","compilers":2,"store":)" +
                quote(TheStore->path()) + "}");
  C.send(2, R"({"verb":"load","recordings":[)" + quote(record({})) + "]}");
  C.receive(1);
  C.receive(2);
  C.send(3, R"({"verb":"evaluate","variant":{"pipeline":"slow"},)"
            R"("recordings":[0],"pairs":20})");
  C.send(4, R"({"verb":"load","recordings":[)" + quote(record(Other)) + "]}");
  C.send(5, R"({"verb":"evaluate","variant":{"pipeline":"kernel"},)"
            R"("recordings":[0]})");
  EXPECT_THAT(C.receive(3), HasSubstr("\"ok\""));
  EXPECT_THAT(C.receive(4), HasSubstr("recordings"));
  EXPECT_THAT(C.receive(5), HasSubstr(contentDigest("slow").hex()));
}

TEST_F(AheadTest, AKilledSupervisorLeavesNoCompilers) {
  auto W = fakeWith(record({}));
  submit(*W, "slow", /*Pairs=*/10000);
  for (int I = 0; I < 5; ++I)
    submit(*W, "sleep");
  std::set<pid_t> Compilers;
  for (int I = 0; I < 1000 && Compilers.size() < 4; ++I) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    Compilers = descendants("fake-compile");
  }
  EXPECT_EQ(Compilers.size(), 4u); // three, and the one for everything else
  const auto Supervisor = descendants("fake-supervisor");
  ASSERT_EQ(Supervisor.size(), 1u);
  ::kill(*Supervisor.begin(), SIGKILL);
  EXPECT_FALSE(W->next());
  EXPECT_TRUE(W->isLost());
  EXPECT_TRUE(allGone(Compilers));
}

TEST_F(AheadTest, ATooLargePoolIsRefused) {
  RawClient C;
  C.send(1, R"({"verb":"hello","backend":"cuda","compilers":100000,"store":)" +
                quote(TheStore->path()) + "}");
  EXPECT_THAT(C.receive(1), HasSubstr("at most 1024"));
}

} // namespace
