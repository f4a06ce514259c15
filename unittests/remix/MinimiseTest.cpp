// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimising with an evaluator that makes gains up from what a variant has.
#include "wrapper/remix/Minimise.h"

#include "wrapper/remix/VariantParts.h"

#include "unittests/support/TestFolder.h"

#include <algorithm>
#include <set>

using namespace r3;

namespace {

using Texts = std::vector<std::string>;

const std::string Printed = "function(sroa,loop-mssa(licm),gvn),globaldce";
// Of Printed: sink inserted, licm deleted, gvn changed, dce at the end.
const std::string Tuned = "function(sink,sroa,gvn<no-pre>),globaldce,dce";

struct World {
  uint64_t NowMs = 0;
  Texts Ran;      // that ran, not only built
  Texts NeededBy; // all of them: the gain; in the JSON of a variant
  double Gain = 1.5;
  std::string WrongWithout;
  std::string LoseAt;
  double Scatter = 0; // of ratios, relative
  size_t StopAfter = 0;
  std::atomic<bool> Stop{false};
  std::string Key = "fake cpu";
  /// Text that makes no difference to the binary.
  Texts Idle;
};

class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(World &W) : W(W) {
    Identity.Backend = "cpu";
    Identity.Key = W.Key;
    Identity.Tools = "fake 1";
    Pipelines["O2"] = Printed;
  }
  bool isLost() const override { return Lost; }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Pipelines;
  }
  Error load(const Texts &) override { return Error::success(); }
  Expected<ReplayReport> prepare(size_t, unsigned) override {
    return ReplayReport();
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &) override {
    return fail(ErrorCode::Usage, "nothing is measured");
  }
  Expected<NvccReport> nvcc() override { return NvccReport(); }
  Expected<RatesReport> rates() override { return RatesReport(); }

  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    ++W.NowMs;
    std::string Text = What.Change.canonicalJson();
    if (!W.LoseAt.empty() && Text.find(W.LoseAt) != std::string::npos) {
      Lost = true;
      return fail(ErrorCode::NotFound, "gone");
    }
    EvaluationReport R;
    std::string Code = Text;
    for (const std::string &Word : W.Idle)
      if (const size_t At = Code.find(Word); At != std::string::npos)
        Code.erase(At, Word.size());
    R.Code = contentDigest(Code).hex();
    if (std::count(What.Known.begin(), What.Known.end(), R.Code)) {
      R.Result = Outcome::Duplicate;
      return R;
    }
    W.Ran.push_back(Text);
    if (W.StopAfter && W.Ran.size() == W.StopAfter)
      W.Stop = true;
    if (Text != "{}" && !W.WrongWithout.empty() &&
        Text.find(W.WrongWithout) == std::string::npos) {
      R.Result = Outcome::Wrong;
      return R;
    }
    const bool Has = std::all_of(W.NeededBy.begin(), W.NeededBy.end(),
                                 [&](const std::string &Word) {
                                   return Text.find(Word) != std::string::npos;
                                 });
    const double Gain = Text != "{}" && Has ? W.Gain : 1;
    for (unsigned I = 0; I < What.Pairs; ++I) {
      R.OriginalNs.push_back(1000);
      R.VariantNs.push_back(1000 / Gain *
                            (1 + W.Scatter * (double(I % 5) - 2) / 2));
    }
    return R;
  }

private:
  World &W;
  bool Lost = false;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
};

class MinimiseTest : public testing::Test {
protected:
  void SetUp() override {
    Winner.Key = "k1";
    Winner.Name = "stencil";
    Winner.Setting = "s1";
    Winner.Backend = "cpu";
    Winner.Device = "fake cpu";
    Winner.Tools = "fake 1";
    Winner.Origin = "passes";
    Winner.Note = "the winner";
    Winner.Change.Pipeline = Tuned;
    Winner.Change.Level = "O3";
    Winner.Gain = {1.5, 1.5, 1.5};
  }

  Expected<MinimiseReport> run(MinimiseOptions Options = {}) {
    auto Log = Journal::openForWriting(Folder / "journal.db", "a test");
    if (!Log)
      return Log.error();
    const JournalRecording R = {"d1", "c", "cpu", 10, 10};
    if (Error E = (*Log)->noteKernel({"k1", "stencil", "a.cu:main"}, {&R, 1}))
      return E;
    const SearchKernel Kernel = {
        {"k1", "stencil", "a.cu:main"}, "O2", 1.0, {{"r1.r3rec", R}}};
    const EvaluatorSource Source =
        [this]() -> Expected<std::unique_ptr<Evaluator>> {
      return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
    };
    return minimise(
        **Log, Source, [this] { return W.NowMs; }, W.Stop, Kernel, Winner,
        Options, nullptr);
  }
  std::vector<Evaluation> inJournal() {
    auto Log = Journal::openForReading(Folder / "journal.db");
    return Log ? *(*Log)->evaluations({}) : std::vector<Evaluation>();
  }

  TestFolder Folder;
  World W;
  Evaluation Winner;
};

TEST_F(MinimiseTest, KeepsWhatTheGainNeeds) {
  W.NeededBy = {"sink", "no-pre"};
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Kept, (Texts{"insert sink before sroa in function",
                            "change gvn to gvn<no-pre> in function"}));
  EXPECT_EQ(R->Dropped, (Texts{"delete licm in loop-mssa",
                               "insert dce in module", "code generation O3"}));
  EXPECT_EQ(R->Smallest.Change.canonicalJson(),
            R"({"pipeline":"function(sink,sroa,loop-mssa(licm),gvn<no-pre>),)"
            R"(globaldce"})");
  EXPECT_EQ(R->Smallest.Origin, "minimised");
  EXPECT_EQ(R->Smallest.Note, R->Kept[0] + "; " + R->Kept[1]);
  EXPECT_TRUE(R->Unfinished.empty());
  EXPECT_NEAR(R->Smallest.Gain.Median, 1.5, 1e-9);
}

TEST_F(MinimiseTest, KeepsWhatCorrectnessNeeds) {
  W.NeededBy = {"sink"};
  W.WrongWithout = R"("level":"O3")";
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Kept, (Texts{"insert sink before sroa in function",
                            "code generation O3"}));
}

TEST_F(MinimiseTest, NeverEndsAtTheOriginal) {
  W.NeededBy = {}; // whatever is changed is faster
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Kept.size(), 1u);
  EXPECT_FALSE(R->Smallest.Change.isOriginal());
}

TEST_F(MinimiseTest, RunsNoBinaryOfTheWinnersOwn) {
  W.Idle = {"sink,", ",dce"};
  W.NeededBy = {"no-pre"};
  W.WrongWithout = R"("level":"O3")";
  ASSERT_TRUE(run());
  std::set<std::string> Codes;
  size_t OfWinner = 0;
  for (std::string Text : W.Ran) {
    for (const std::string &Word : W.Idle)
      if (const size_t At = Text.find(Word); At != std::string::npos)
        Text.erase(At, Word.size());
    OfWinner += Text == R"({"pipeline":"function(sroa,gvn<no-pre>),globaldce",)"
                        R"("level":"O3"})";
  }
  // Measured once; not in the journal before, so once more as a reduction.
  EXPECT_LE(OfWinner, 2u);
}

TEST_F(MinimiseTest, GoesOnWhereItWasStopped) {
  W.NeededBy = {"sink", "no-pre"};
  W.StopAfter = 5;
  auto First = run();
  ASSERT_TRUE(First) << First.error().message();
  EXPECT_TRUE(First->Interrupted);
  EXPECT_EQ(First->Unfinished, "it was stopped");
  const size_t Known = inJournal().size();
  EXPECT_GT(Known, 0u);
  W.Stop = false;
  W.StopAfter = 0;
  auto Second = run();
  ASSERT_TRUE(Second);
  EXPECT_GE(Second->Answered, Known);
  EXPECT_EQ(Second->Kept.size(), 2u);
  EXPECT_TRUE(Second->Unfinished.empty());
  // Nothing is there twice.
  std::set<std::string> Ids;
  for (const Evaluation &E : inJournal())
    EXPECT_TRUE(Ids.insert(E.Change.id().hex()).second);
}

TEST_F(MinimiseTest, KeepsToItsBudget) {
  W.NeededBy = {"sink", "no-pre"};
  MinimiseOptions Options;
  Options.MaxEvaluations = 4;
  auto R = run(Options);
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Unfinished, "all evaluations are used up");
  EXPECT_EQ(W.Ran.size(), 4u);
  // What is there holds.
  for (const char *Word : {"sink", "no-pre"})
    EXPECT_NE(R->Smallest.Change.Pipeline.find(Word), std::string::npos);
}

TEST_F(MinimiseTest, TakesALostWorkerForAReductionThatDoesNotHold) {
  W.NeededBy = {"no-pre"};
  W.LoseAt = "licm"; // wherever it is not deleted
  auto R = run();
  ASSERT_TRUE(R) << R.error().message();
  EXPECT_EQ(R->Kept, (Texts{"delete licm in loop-mssa",
                            "change gvn to gvn<no-pre> in function"}));
}

TEST_F(MinimiseTest, HasNothingToDoBelowNoise) {
  W.NeededBy = {"sink"};
  W.Gain = 1.04;
  W.Scatter = 0.2;
  auto R = run();
  ASSERT_FALSE(R);
  EXPECT_EQ(R.error().code(), ErrorCode::Slower);
  EXPECT_NE(R.error().message().find("not above noise"), std::string::npos);
}

TEST_F(MinimiseTest, RefusesAnotherDevice) {
  W.Key = "another";
  auto R = run();
  ASSERT_FALSE(R);
  EXPECT_EQ(R.error().code(), ErrorCode::Stale);
}

TEST(VariantParts, LeavesGuardsWhereSomethingRelies) {
  Variant V;
  V.Pipeline = "default<O1>";
  V.MaxRegisters = 64;
  V.PtxasLevel = "O1";
  V.Launch = {{"grid.x", "ceildiv(grid.x, 2)"}};
  V.Specialise = {{"n", 100}};
  V.Guards = {"align(p,16)"};
  const VariantParts Parts(V, "O2", {{"O2", Printed}});
  EXPECT_EQ(Parts.names(), (Texts{"change default<O2> to default<O1> in module",
                                  "passes", "maxnreg 64", "ptxas O1",
                                  "grid.x = ceildiv(grid.x, 2)", "n = 100"}));
  EXPECT_EQ(Parts.with({0, 1, 2, 3, 4, 5}).id(), V.id());
  EXPECT_TRUE(Parts.with({}).isOriginal());
  EXPECT_EQ(Parts.with({2}).canonicalJson(), R"({"codegen":{"maxnreg":64}})");
  EXPECT_EQ(Parts.with({5}).Guards, V.Guards);
  EXPECT_TRUE(Parts.with({0, 1, 2, 3}).Guards.empty());
}

TEST(VariantParts, TakesWhatItCannotReadForOneChange) {
  Variant V;
  V.Pipeline = "function(";
  const VariantParts Parts(V, "O2", {{"O2", Printed}});
  EXPECT_EQ(Parts.names(), Texts{"passes"});
  EXPECT_EQ(Parts.with({0}).Pipeline, "function(");
  EXPECT_TRUE(Parts.with({}).isOriginal());
}

} // namespace
