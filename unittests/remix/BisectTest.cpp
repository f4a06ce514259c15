// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bisection with an evaluator whose variants go wrong from a run of passes on.
#include "wrapper/remix/Bisect.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace r3;

namespace {

struct World {
  uint64_t Runs = 1000;     // of passes
  uint64_t WrongFrom = 421; // this run makes it so; 0: wrong without any
  Outcome Ending = Outcome::Wrong;
  bool Loses = false;         // the worker, instead
  uint64_t SameCodeBelow = 0; // all binaries with fewer runs are one
  std::vector<uint64_t> Asked;
  size_t Ran = 0, Started = 0;
  std::atomic<bool> Stop{false};
};

class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(World &W) : W(W) { ++W.Started; }
  bool isLost() const override { return Lost; }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Pipelines;
  }
  Error load(const std::vector<std::string> &) override {
    return Error::success();
  }
  Expected<ReplayReport> prepare(size_t, unsigned) override {
    return ReplayReport();
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &) override {
    return fail(ErrorCode::Usage, "nothing is measured");
  }
  Expected<NvccReport> nvcc() override { return NvccReport(); }
  Expected<RatesReport> rates() override { return RatesReport(); }

  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    EXPECT_EQ(What.Pairs, 0u);
    EXPECT_TRUE(What.PassLimit.has_value());
    const uint64_t Limit = *What.PassLimit;
    W.Asked.push_back(Limit);
    EvaluationReport R;
    const uint64_t Made = std::min(Limit, W.Runs);
    const bool Wrong = Made >= W.WrongFrom;
    if (Wrong && W.Loses) {
      Lost = true;
      return fail(ErrorCode::NotFound, "gone");
    }
    R.Result = Wrong ? W.Ending : Outcome::Ok;
    if (W.Ending == Outcome::BuildCrashed && Wrong)
      return R; // it has counted nothing
    R.Code = std::to_string(Made < W.SameCodeBelow ? 0 : Made);
    R.PassRuns = W.Runs;
    if (Limit < W.Runs) {
      R.NextPass = "pass" + std::to_string(Limit + 1);
      R.NextPlace = "function k";
    }
    if (std::count(What.Known.begin(), What.Known.end(), R.Code))
      R.Result = Outcome::Duplicate;
    else
      ++W.Ran;
    return R;
  }

private:
  World &W;
  bool Lost = false;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
};

class BisectTest : public testing::Test {
protected:
  Expected<BisectReport> run() {
    const EvaluatorSource Source =
        [this]() -> Expected<std::unique_ptr<Evaluator>> {
      return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
    };
    const SearchKernel Kernel = {{"k1", "stencil", "a.cu:main"},
                                 "O2",
                                 1.0,
                                 {{"r1.r3rec", {"d1", "c", "cpu", 10, 10}}}};
    Variant V;
    V.Pipeline = "mine";
    return bisect(Source, W.Stop, Kernel, V, nullptr);
  }
  World W;
};

TEST_F(BisectTest, FindsTheRunForEveryPlace) {
  for (const uint64_t From : {1, 2, 3, 500, 999, 1000}) {
    W.WrongFrom = From;
    auto R = run();
    ASSERT_TRUE(R) << R.error().message();
    EXPECT_EQ(R->Run, From);
    EXPECT_EQ(R->Runs, 1000u);
    EXPECT_EQ(R->Pass, "pass" + std::to_string(From));
    EXPECT_EQ(R->Place, "function k");
    EXPECT_EQ(R->With, Outcome::Wrong);
    EXPECT_LE(R->Evaluations, 14u); // all, none, ten halves, the last
  }
}

TEST_F(BisectTest, FindsWhatEndsTheBuild) {
  W.Ending = Outcome::BuildCrashed;
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Run, 421u);
  EXPECT_EQ(R->Runs, 0u); // nobody knows
  EXPECT_EQ(R->Pass, "pass421");
  EXPECT_EQ(R->With, Outcome::BuildCrashed);
}

TEST_F(BisectTest, TakesALostWorkerForAnEnding) {
  W.Loses = true;
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Run, 421u);
  EXPECT_EQ(R->Result, Outcome::WorkerLost);
  EXPECT_GT(W.Started, 2u);
}

TEST_F(BisectTest, SaysWhereNoPassIsToBlame) {
  W.WrongFrom = 0;
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Run, 0u);
  EXPECT_EQ(R->With, Outcome::Wrong);
  EXPECT_EQ(R->Evaluations, 2u);
}

TEST_F(BisectTest, RefusesWhatIsRight) {
  W.WrongFrom = 2000;
  auto R = run();
  ASSERT_FALSE(R);
  EXPECT_NE(R.error().message().find("is right"), std::string::npos);
}

TEST_F(BisectTest, RunsEachBinaryOnce) {
  W.SameCodeBelow = 400;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Run, 421u);
  std::set<uint64_t> Codes;
  for (const uint64_t Limit : W.Asked)
    Codes.insert(Limit < 400 ? 0 : std::min<uint64_t>(Limit, 1000));
  EXPECT_EQ(W.Ran, Codes.size());
}

TEST_F(BisectTest, StopsWhenItIsTold) {
  W.Stop = true;
  auto R = run();
  ASSERT_FALSE(R);
  EXPECT_EQ(R.error().code(), ErrorCode::Interrupted);
}

} // namespace
