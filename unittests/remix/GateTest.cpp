// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gate with workers that make times up: what is accepted, how many
// processes are asked, and what ends it early.
#include "wrapper/remix/Gate.h"
#include "wrapper/remix/EvidenceText.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

using namespace r3;
using ::testing::HasSubstr;

namespace {

constexpr char Honest[] = "honest";

/// What all workers of a test share.
struct World {
  unsigned Started = 0;
  std::vector<unsigned> Measured; // variants, A/A ones apart, by process
  std::string Backend = "cuda";
  Outcome Verdict = Outcome::Ok, WhileTimed = Outcome::Ok;
  double Gain = 1.1;     // of the variant where caches are cold
  double WarmGain = 1.1; // where they are warm
  double LaunchNoise = 0.002, ProcessNoise = 0;
  double ColdUs = 100, WarmUs = 60;
  std::string Irreproducible; // recordings whose path contains it
  std::string Unknown;        // to the variant, which is wrong there
  CheckSet Checks;            // asked for
  size_t Recordings = 0;      // in the last evaluation
  double FloorUs = 0;
  double OptimisedGain = 1.05;            // of clang -O3
  Outcome OptimisedVerdict = Outcome::Ok; // Duplicate: the same code
  Outcome OptimisedTimed = Outcome::Ok;
  bool LosesOptimised = false;
  double NvccGain = 1.03;
  NvccReport Nvcc = {Outcome::Ok, "", ".version 9.0"};
  Accept Which = Accept::Rounding; // that clang -O3 is judged by
  double CloseTo = 0;
  std::atomic<bool> Stop{false};
  std::mt19937_64 Random{7};
};

bool isOptimised(const Variant &V) { return V.Pipeline == "default<O3>"; }
bool isNvcc(const Variant &V) { return V.Ptx == ".version 9.0"; }

class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(World &W) : W(W) {
    ++W.Started;
    W.Measured.push_back(0);
    Identity.Backend = W.Backend;
    std::normal_distribution<double> Draw(1, W.ProcessNoise);
    OfProcess = W.ProcessNoise > 0 ? Draw(W.Random) : 1;
  }
  bool isLost() const override { return false; }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Pipelines;
  }
  Error load(const std::vector<std::string> &Manifests) override {
    Paths = Manifests;
    return Error::success();
  }
  Expected<ReplayReport> prepare(size_t Index, unsigned) override {
    ReplayReport R;
    if (!W.Irreproducible.empty() &&
        Paths[Index].find(W.Irreproducible) != std::string::npos) {
      R.Result = Outcome::NotVerifiable;
      R.Message = "random";
    }
    return R;
  }
  Expected<NvccReport> nvcc() override {
    EXPECT_EQ(W.Backend, "cuda");
    return W.Nvcc;
  }
  Expected<RatesReport> rates() override { return RatesReport(); }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    EvaluationReport R;
    R.Code = What.Change.isOriginal() ? "original" : "other";
    if (What.Change.isOriginal())
      return R;
    if (isOptimised(What.Change)) {
      EXPECT_EQ(What.Known, std::vector<std::string>{"original"});
      EXPECT_EQ(What.Which, W.Which);
      EXPECT_EQ(What.CloseTo, W.CloseTo);
      if (W.LosesOptimised)
        return Error(ErrorCode::Failed, "the worker is gone");
      R.Result = W.OptimisedVerdict;
      R.Message = "too new";
      return R;
    }
    if (isNvcc(What.Change)) {
      EXPECT_EQ(What.Known, std::vector<std::string>{"original"});
      EXPECT_EQ(What.Which, Accept::Rounding);
      EXPECT_EQ(What.Change.PtxasLevel, "O3");
      return R;
    }
    W.Checks = What.Checks;
    W.Recordings = What.Recordings.size();
    R.Result = W.Verdict;
    for (size_t Index : What.Recordings)
      if (Paths[Index] == W.Unknown)
        R.Result = Outcome::Wrong;
    R.Message = R.Result == Outcome::Ok ? "" : "y[3] differs";
    FloorReport Floor;
    Floor.ColdUs = Floor.WarmUs = W.FloorUs;
    Floor.ColdBy = "memory";
    Floor.WarmBy = "the L2 cache";
    if (What.Floors)
      R.Floors.resize(W.Recordings, Floor);
    return R;
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &What) override {
    MeasurementReport R;
    const bool Aa = What.Change.isOriginal();
    const bool Optimised = isOptimised(What.Change);
    const bool Nvcc = isNvcc(What.Change);
    if (!Aa && !Optimised && !Nvcc)
      ++W.Measured.back();
    if (!Aa && W.WhileTimed != Outcome::Ok) {
      R.Result = W.WhileTimed;
      R.Message = "too bad";
      return R;
    }
    if (Optimised && W.OptimisedTimed != Outcome::Ok) {
      R.Result = W.OptimisedTimed;
      R.Message = "too short";
      return R;
    }
    const bool Cold = What.Mode == CacheMode::Cold;
    const double Gain = Aa          ? 1
                        : Nvcc      ? W.NvccGain
                        : Optimised ? W.OptimisedGain
                        : Cold      ? W.Gain
                                    : W.WarmGain;
    std::normal_distribution<double> Noise(1, W.LaunchNoise);
    for (unsigned I = 0; I < What.Batches; ++I) {
      Batch B;
      for (int J = 0; J < 2; ++J) {
        const double Us = Cold ? W.ColdUs : W.WarmUs;
        B.OriginalUs[J] = Us * Noise(W.Random);
        B.VariantUs[J] = Us / Gain / OfProcess * Noise(W.Random);
      }
      R.Batches.push_back(B);
    }
    return R;
  }

private:
  World &W;
  double OfProcess = 1;
  std::vector<std::string> Paths;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
};

class GateTest : public ::testing::Test {
protected:
  World W;
  GateOptions Options;
  std::vector<SearchRecording> Recordings = {
      {"a0", {"a0", "a", "cuda", 0, 100000}},
      {"a1", {"a1", "a", "cuda", 0, 100000}},
      {"b0", {"b0", "b", "cuda", 0, 50000}}};
  Expected<GateReport> run() {
    Variant V;
    V.Pipeline = Honest;
    return run(V);
  }
  Expected<GateReport> run(const Variant &V) {
    holdOut(Recordings);
    Gate G(
        [this]() -> Expected<std::unique_ptr<Evaluator>> {
          return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
        },
        Options, W.Stop, [](const std::string &, double) {});
    return G.run(Recordings, V);
  }
};

TEST_F(GateTest, TheLastOfAClassIsHeldOut) {
  holdOut(Recordings);
  EXPECT_FALSE(Recordings[0].Held);
  EXPECT_TRUE(Recordings[1].Held);
  EXPECT_FALSE(Recordings[2].Held);
}

TEST_F(GateTest, AGainIsAcceptedFromTwoProcesses) {
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Result, Outcome::Ok);
  EXPECT_TRUE(R->Accepted) << R->Gains[0].Judged.Message;
  EXPECT_EQ(R->Weakness, "");
  EXPECT_EQ(W.Checks, gateChecks());
  EXPECT_EQ(W.Recordings, 3u);
  EXPECT_EQ(W.Started, 5u); // verification, two times timing, two baselines
  ASSERT_EQ(R->Gains.size(), 2u);       // one a class, the longest first
  EXPECT_EQ(R->Gains[0].Recording, 1u); // held out
  EXPECT_EQ(R->Gains[0].Mode, CacheMode::Cold); // takes as long as the program
  EXPECT_EQ(R->Gains[1].Mode, CacheMode::Warm);
  EXPECT_NEAR(R->Gains[0].Judged.Ratio, 1.1, 0.01);
  EXPECT_GT(R->Gains[0].Judged.AtLeast, 1.05);
  EXPECT_EQ(R->Gains[0].AaRatios.size(), 2u);
  ASSERT_EQ(R->Baselines.size(), 2u);
  EXPECT_EQ(R->Baselines[0].Name, "clang -O3");
  EXPECT_NEAR(R->Baselines[0].Ratio, 1.05, 0.01);
  EXPECT_LT(R->Baselines[0].AtLeast, R->Baselines[0].Ratio);
  EXPECT_GT(R->Baselines[0].AtMost, R->Baselines[0].Ratio);
  EXPECT_EQ(R->Baselines[1].Name, "nvcc -O3");
  EXPECT_NEAR(R->Baselines[1].Ratio, 1.03, 0.01);
}

TEST_F(GateTest, AHeldOutRecordingRejectsWhatKnowsTheOthers) {
  W.Unknown = "a1"; // the search sees a0 and b0
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->Recordings[1].Held);
  EXPECT_EQ(R->Result, Outcome::Wrong);
  EXPECT_FALSE(R->Accepted);
  // Without it, it is accepted, and that is said to be weak.
  Recordings.erase(Recordings.begin() + 1);
  R = run();
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->Accepted);
  EXPECT_EQ(R->Weakness, "no recording was held out");
}

TEST_F(GateTest, WhatSomebodyWroteHoldsInTheClassesThatItPassed) {
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->OnlyClasses.empty()); // a pipeline
  Variant Source;
  Source.Patch = "--- a/k.cu\n";
  R = run(Source);
  ASSERT_TRUE(R);
  EXPECT_EQ(R->OnlyClasses, (std::vector<std::string>{"a", "b"}));
  W.Verdict = Outcome::Wrong;
  R = run(Source);
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->OnlyClasses.empty());
}

TEST_F(GateTest, ABaselineSaysWhyThereIsNoCode) {
  W.Nvcc = {Outcome::BuildFailed, "there is no nvcc beside ptxas", ""};
  auto R = run();
  ASSERT_TRUE(R && R->Baselines.size() == 2);
  EXPECT_EQ(R->Baselines[1].Message,
            "build-failed: there is no nvcc beside ptxas");
  EXPECT_EQ(R->Baselines[1].Ratio, 0);
  EXPECT_EQ(R->Baselines[0].Message, "");
  EXPECT_TRUE(R->Accepted);
}

TEST_F(GateTest, ABaselineMayHaveNoTime) {
  W.OptimisedVerdict = Outcome::Duplicate;
  auto R = run();
  ASSERT_TRUE(R && R->Baselines.size() == 2);
  EXPECT_EQ(R->Baselines[0].Message, "the same code as the original's");
  W.OptimisedVerdict = Outcome::Wrong;
  R = run();
  ASSERT_TRUE(R && R->Baselines.size() == 2);
  EXPECT_EQ(R->Baselines[0].Message, "wrong: too new");
  EXPECT_EQ(R->Baselines[0].Ratio, 0);
  EXPECT_TRUE(R->Accepted);
  W.OptimisedVerdict = Outcome::Ok;
  W.OptimisedTimed = Outcome::BelowResolution;
  R = run();
  ASSERT_TRUE(R && R->Baselines.size() == 2);
  EXPECT_EQ(R->Baselines[0].Message, "below-resolution: too short");
}

TEST_F(GateTest, ALostBaselineTakesNoGainBack) {
  W.LosesOptimised = true;
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_TRUE(R->Accepted);
  ASSERT_EQ(R->Baselines.size(), 2u);
  EXPECT_EQ(R->Baselines[0].Message, "the worker is gone");
}

TEST_F(GateTest, ABaselineIsJudgedAsTheVariantIs) {
  W.Which = Options.Which = Accept::Bits;
  W.CloseTo = Options.CloseTo = 0.01;
  auto R = run();
  ASSERT_TRUE(R && R->Baselines.size() == 2);
  EXPECT_EQ(R->Baselines[0].Message, "");
}

TEST_F(GateTest, EvidenceOfPtxIsWeak) {
  Variant V;
  V.Ptx = ".version 8.8";
  auto R = run(V);
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->Accepted);
  EXPECT_THAT(R->Weakness, HasSubstr("PTX"));
  EXPECT_EQ(evidenceLevel(*R), "weak");
}

TEST_F(GateTest, AWrongVariantIsNotTimed) {
  W.Verdict = Outcome::Wrong;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Result, Outcome::Wrong);
  EXPECT_EQ(R->Message, "y[3] differs");
  EXPECT_FALSE(R->Accepted);
  EXPECT_EQ(W.Started, 1u);
}

TEST_F(GateTest, OneThatGoesWrongWhileItIsTimedIsRejected) {
  W.WhileTimed = Outcome::Wrong;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Result, Outcome::Wrong);
  EXPECT_EQ(R->Message, "while it was timed: too bad");
  EXPECT_FALSE(R->Accepted);
}

TEST_F(GateTest, WhatIsNotFasterEndsAfterOneProcess) {
  W.Gain = 0.9;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Result, Outcome::Ok);
  EXPECT_FALSE(R->Accepted);
  EXPECT_EQ(W.Started, 2u);
}

TEST_F(GateTest, ScatteredKernelsAreTimedInMoreProcesses) {
  W.ProcessNoise = 0.03;
  W.Gain = W.WarmGain = 1.5;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(W.Started, 13u);
  EXPECT_EQ(R->Gains[0].Processes, 4u);
  EXPECT_EQ(R->Gains[0].AaRatios.size(), 10u);
  EXPECT_GT(R->Gains[0].Judged.Needed, 1.01);
  EXPECT_TRUE(R->Accepted) << R->Gains[0].Judged.Message;
}

TEST_F(GateTest, EqualVariantsAreNotAccepted) {
  W.Gain = W.WarmGain = 1;
  for (int I = 0; I < 50; ++I) {
    auto R = run();
    ASSERT_TRUE(R);
    EXPECT_FALSE(R->Accepted) << R->Gains[0].Judged.Message;
  }
}

TEST_F(GateTest, AClassThatLosesRejects) {
  W.WarmGain = 0.95; // class b decides warm
  W.Gain = 1.2;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_FALSE(R->Accepted);
}

TEST_F(GateTest, TheCpuDeviceHasNoColdCaches) {
  W.Backend = "cpu";
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Gains[0].Mode, CacheMode::Warm);
  EXPECT_EQ(W.Measured[W.Started - 2], 2u); // two recordings, one mode
  EXPECT_EQ(R->Baselines.size(), 1u);       // nvcc has none for it
}

TEST_F(GateTest, TooShortKernelsAreRightAndNoGain) {
  W.WhileTimed = Outcome::BelowResolution;
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Result, Outcome::Ok);
  EXPECT_FALSE(R->Accepted);
  EXPECT_EQ(R->Message, "too bad");
  EXPECT_EQ(W.Started, 2u);
}

TEST_F(GateTest, RecordingsThatDoNotReproduceAreLeftOut) {
  W.Irreproducible = "a1";
  auto R = run();
  ASSERT_TRUE(R);
  EXPECT_EQ(R->Weakness, "no recording was held out");
  ASSERT_EQ(R->LeftOut.size(), 1u);
  EXPECT_THAT(R->LeftOut[0], HasSubstr("not-verifiable: random"));
  EXPECT_EQ(R->Recordings.size(), 2u);
}

TEST_F(GateTest, ATimeBelowTheFloorIsSaid) {
  W.FloorUs = 200;
  auto R = run();
  ASSERT_TRUE(R);
  ASSERT_FALSE(R->Gains[0].Warnings.empty());
  EXPECT_THAT(R->Gains[0].Warnings[0], HasSubstr("below what memory"));
  EXPECT_TRUE(R->Accepted); // a flag, not a verdict
  EXPECT_EQ(R->Gains[0].FloorBy, "memory");
  EXPECT_EQ(R->Gains[1].FloorBy, "the L2 cache"); // where caches are warm
  W.FloorUs = 100; // what it takes is above nine tenths of that
  R = run();
  ASSERT_TRUE(R);
  EXPECT_TRUE(R->Gains[0].Warnings.empty());
}

TEST_F(GateTest, StopsWhenItIsTold) {
  W.Stop = true;
  auto R = run();
  ASSERT_FALSE(R);
  EXPECT_EQ(R.error().code(), ErrorCode::Interrupted);
}

} // namespace
