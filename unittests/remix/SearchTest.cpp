// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search with an evaluator that makes results up and a clock that the test
// turns: budget, continuation, duplicates and lost workers.
#include "wrapper/remix/Search.h"
#include "unittests/support/TestFolder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

using namespace r3;

namespace {

/// What all workers of a test share.
struct World {
  uint64_t NowMs = 0;
  uint64_t EvaluationMs = 10;
  std::vector<std::string> Ran; // canonical JSON, every time
  size_t Started = 0, Submitted = 0, Duplicates = 0;
  std::string LoseAt; // variants whose JSON contains it lose the worker
  std::string WrongAt;
  size_t LoseAfter = 0; // so many runs a signal reaches worker and search
  bool Reproduces = true;
  std::string RefuseAt; // answered with an error
  size_t StopAfter = 0;
  std::atomic<bool> Stop{false};
  std::string Key = "fake cpu";

  void run(const std::string &Text) {
    Ran.push_back(Text);
    if (StopAfter && Ran.size() >= StopAfter)
      Stop = true;
  }
};

class FakeEvaluator : public Evaluator {
public:
  explicit FakeEvaluator(World &W) : W(W) {
    Identity.Backend = "cpu";
    Identity.Key = W.Key;
    Identity.Tools = "fake 1";
    Pipelines["O3"] = "function(sroa,loop-mssa(licm),gvn),globaldce";
  }
  bool isLost() const override { return Lost; }
  const DeviceIdentity &identity() const override { return Identity; }
  const std::map<std::string, std::string> &pipelines() const override {
    return Pipelines;
  }
  Error load(const std::vector<std::string> &) override {
    Known.clear();
    Dropped = false;
    return Error::success();
  }
  Expected<ReplayReport> prepare(size_t, unsigned) override {
    ReplayReport R;
    R.Result = W.Reproduces ? Outcome::Ok : Outcome::NotVerifiable;
    return R;
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &) override {
    return fail(ErrorCode::Usage, "a search measures nothing");
  }
  Expected<NvccReport> nvcc() override { return NvccReport(); }
  Expected<RatesReport> rates() override { return RatesReport(); }
  Error know(const std::vector<KnownBinary> &All) override {
    for (const KnownBinary &B : All)
      Known.insert(B.Code);
    return Error::success();
  }
  Error submit(const EvaluationRequest &What) override {
    ++W.Submitted;
    return Evaluator::submit(What);
  }
  void drop() override {
    Dropped = true;
    Evaluator::drop();
  }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    EXPECT_FALSE(Dropped) << "the journal lacks what came of the others";
    const Variant &Change = What.Change;
    const unsigned Pairs = What.Pairs;
    W.NowMs += W.EvaluationMs;
    std::string Text = Change.canonicalJson();
    const bool Signalled = W.LoseAfter && W.Ran.size() + 1 >= W.LoseAfter;
    if (Signalled ||
        (!W.LoseAt.empty() && Text.find(W.LoseAt) != std::string::npos)) {
      W.run(Text);
      W.Stop = W.Stop || Signalled;
      Lost = true;
      return fail(ErrorCode::NotFound, "the worker is gone");
    }
    if (!W.RefuseAt.empty() && Text.find(W.RefuseAt) != std::string::npos)
      return fail(ErrorCode::Damaged, "packs damaged?");
    EvaluationReport R;
    // Four variants share a binary.
    R.Code = Text == "{}" ? "original" : std::to_string(Change.id().Low % 10);
    EXPECT_TRUE(What.Once);
    if (!Known.insert(R.Code).second) {
      R.Result = Outcome::Duplicate;
      ++W.Duplicates;
      return R;
    }
    W.run(Text);
    if (!W.WrongAt.empty() && Text.find(W.WrongAt) != std::string::npos) {
      R.Result = Outcome::Wrong;
      R.OriginalNs.assign(Pairs, 1000); // wrong, and very fast
      R.VariantNs.assign(Pairs, 1);
      return R;
    }
    double Gain = Text == "{}" ? 1 : 0.9 + double(Change.id().Low % 10) / 10;
    R.OriginalNs.assign(Pairs, 1000);
    R.VariantNs.assign(Pairs, 1000 / Gain);
    return R;
  }

private:
  World &W;
  bool Lost = false, Dropped = false;
  std::set<std::string> Known;
  DeviceIdentity Identity;
  std::map<std::string, std::string> Pipelines;
};

class SearchTest : public testing::Test {
protected:
  Expected<SearchSummary> search(SearchOptions Options = {}) {
    auto Log = Journal::openForWriting(Folder / "journal.db", "a test");
    if (!Log)
      return Log.error();
    EvaluatorSource Source = [this]() -> Expected<std::unique_ptr<Evaluator>> {
      ++W.Started;
      return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
    };
    SearchObserver Nobody;
    Search S(**Log, Source, [this] { return W.NowMs; }, Nobody, W.Stop);
    return S.run(Kernels, Options);
  }
  size_t inJournal() {
    auto Log = Journal::openForReading(Folder / "journal.db");
    return Log ? (*Log)->evaluations({})->size() : 0;
  }
  size_t distinctRuns() const {
    return std::set<std::string>(W.Ran.begin(), W.Ran.end()).size();
  }

  TestFolder Folder;
  World W;
  std::vector<SearchKernel> Kernels = {
      {{"k1", "stencil", "a.cu:main"},
       "O3",
       1.0,
       {{"r1.r3rec", {"d1", "c", "cpu", 10, 10}}}}};
};

TEST_F(SearchTest, TriesTheWholeSpaceOnce) {
  auto S = search();
  ASSERT_TRUE(S) << S.error().message();
  const KernelProgress &P = S->Kernels[0];
  EXPECT_EQ(P.Tried, P.Variants);
  EXPECT_EQ(S->State.State, "complete");
  EXPECT_EQ(inJournal(), *P.Variants + 1); // and the original
  ASSERT_TRUE(P.Best);
  EXPECT_NEAR(P.Best->Gain.Median, 1.8, 1e-9);
  size_t Runs = W.Ran.size();
  auto Again = search();
  ASSERT_TRUE(Again);
  EXPECT_EQ(W.Ran.size(), Runs);
  EXPECT_EQ(Again->State.State, "complete");
  EXPECT_NEAR(Again->Kernels[0].Best->Gain.Median, 1.8, 1e-9);
}

TEST_F(SearchTest, TakesItsVariantsFromTheSpaceThatItIsGiven) {
  SearchOptions Options;
  Options.Space = listed("one", [](const SpaceInput &Input) {
    EXPECT_EQ(Input.Level, "O3");
    std::vector<Candidate> All(1);
    All[0].Change.Pipeline = "mine";
    return Expected<std::vector<Candidate>>(All);
  });
  auto S = search(Options);
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_EQ(S->Kernels[0].Variants, 1u);
  ASSERT_EQ(W.Ran.size(), 2u); // and the original
  EXPECT_NE(W.Ran[1].find("mine"), std::string::npos);
  const int64_t Id = S->State.Id;
  EXPECT_NE(search()->State.Id, Id); // another space: another search
}

TEST_F(SearchTest, LeavesAKernelAfterSoManyVariantsWithoutABetterOne) {
  SearchOptions Options;
  Options.Patience = 3;
  Kernels.push_back(Kernels[0]);
  Kernels[1].About.Key = "k2";
  auto S = search(Options);
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_EQ(S->State.State, "settled");
  for (const KernelProgress &P : S->Kernels) {
    EXPECT_TRUE(P.Settled);
    EXPECT_FALSE(P.Complete);
    EXPECT_EQ(P.SinceBest, 3u);
    EXPECT_LT(P.Tried, *P.Variants);
  }
  // With more patience it goes on from there.
  const size_t Before = S->Kernels[0].Tried;
  Options.Patience = Before + 5;
  auto More = search(Options);
  ASSERT_TRUE(More);
  EXPECT_EQ(More->State.Id, S->State.Id);
  EXPECT_GT(More->Kernels[0].Tried, Before);
}

TEST_F(SearchTest, RunsEachBinaryOnce) {
  auto S = search();
  ASSERT_TRUE(S);
  EXPECT_LE(W.Ran.size(), 11u); // ten codes and the original
  EXPECT_EQ(S->Kernels[0].Counts[Outcome::Duplicate],
            *S->Kernels[0].Variants + 1 - W.Ran.size());
}

TEST_F(SearchTest, GoesOnWhereItStopped) {
  W.StopAfter = 3;
  auto First = search();
  ASSERT_TRUE(First);
  EXPECT_TRUE(First->Interrupted);
  EXPECT_EQ(First->State.State, "open");
  EXPECT_EQ(W.Ran.size(), 3u);
  W.Stop = false;
  W.StopAfter = 0;
  auto Second = search();
  ASSERT_TRUE(Second);
  EXPECT_TRUE(Second->State.Resumed);
  EXPECT_EQ(Second->State.State, "complete");
  EXPECT_EQ(distinctRuns(), W.Ran.size());
}

TEST_F(SearchTest, BlamesNoVariantForAWorkerThatEndsWithTheJob) {
  W.LoseAfter = 3;
  auto S = search();
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_TRUE(S->Interrupted);
  EXPECT_EQ(S->WorkersLost, 0u);
  EXPECT_EQ(inJournal(), 2u); // the original and one variant
  EXPECT_EQ(W.Started, 1u);
}

/// What it proposes follows from all that it has learnt, and when.
class Learner : public Proposals {
public:
  std::optional<size_t> count() const override { return std::nullopt; }
  std::vector<std::pair<std::string, size_t>> dimensions() const override {
    return {};
  }
  std::optional<Candidate> next() override {
    Candidate C;
    C.Change.Pipeline = contentDigest(Learnt).hex();
    Learnt += "next ";
    return C;
  }
  void learn(std::optional<double> Cost) override {
    Learnt += Cost ? format("%.9g ", *Cost) : "bad ";
  }

private:
  std::string Learnt;
};

class SeveralOutTest : public SearchTest,
                       public testing::WithParamInterface<unsigned> {};

TEST_P(SeveralOutTest, TeachesWhatTheJournalKnowsInTheSameOrder) {
  SearchOptions Options;
  Options.InFlight = GetParam();
  Options.Space = {"learner", [](const SpaceInput &) {
                     return Expected<std::unique_ptr<Proposals>>(
                         std::make_unique<Learner>());
                   }};
  // A hash of 30 variants meets duplicates, wrong ones and lost workers.
  W.WrongAt = "a1";
  W.LoseAt = "b2";
  Options.MaxEvaluations = 30;
  ASSERT_TRUE(search(Options));
  const std::vector<std::string> Whole = W.Ran;
  const size_t Known = inJournal();
  EXPECT_GT(Known, 31u); // duplicates are no evaluations

  std::filesystem::remove(Folder / "journal.db");
  W.Ran.clear();
  for (size_t After : {4, 5, 17}) {
    W.StopAfter = After;
    W.Stop = false;
    auto Part = search(Options);
    ASSERT_TRUE(Part) << Part.error().message();
    EXPECT_TRUE(Part->Interrupted);
  }
  W.StopAfter = 0;
  W.Stop = false;
  // The session keeps to what it began with.
  Options.InFlight = 7;
  auto Last = search(Options);
  ASSERT_TRUE(Last);
  EXPECT_EQ(Last->State.InFlight, GetParam());
  EXPECT_EQ(Last->State.State, "spent");
  EXPECT_FALSE(Last->Kernels[0].Complete);
  // One whose worker was lost with the stop runs again.
  W.Ran.erase(std::unique(W.Ran.begin(), W.Ran.end()), W.Ran.end());
  EXPECT_EQ(W.Ran, Whole);
  EXPECT_EQ(inJournal(), Known);
}

INSTANTIATE_TEST_SUITE_P(Some, SeveralOutTest, testing::Values(1, 2, 5, 32));

TEST_F(SearchTest, SendsWhatALostWorkerHadNotBegunToTheNext) {
  SearchOptions Options;
  Options.InFlight = 8;
  W.LoseAt = "O1";
  auto S = search(Options);
  ASSERT_TRUE(S) << S.error().message();
  const size_t Lost = S->Kernels[0].Counts[Outcome::WorkerLost];
  EXPECT_GT(Lost, 0u);
  EXPECT_EQ(S->WorkersLost, Lost);
  EXPECT_EQ(S->Kernels[0].Tried, S->Kernels[0].Variants);
  EXPECT_EQ(distinctRuns(), W.Ran.size());
}

TEST_F(SearchTest, LoadsAKernelAnewAfterDroppingWhatWasSent) {
  auto Log = Journal::openForWriting(Folder / "journal.db", "a test");
  ASSERT_TRUE(Log);
  EvaluatorSource Source = [this]() -> Expected<std::unique_ptr<Evaluator>> {
    ++W.Started;
    return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
  };
  SearchObserver Nobody;
  Search S(**Log, Source, [this] { return W.NowMs; }, Nobody, W.Stop);
  SearchOptions Options;
  Options.BudgetMs = 55;
  auto First = S.run(Kernels, Options);
  ASSERT_TRUE(First) << First.error().message();
  EXPECT_GT(W.Submitted, W.Ran.size() + W.Duplicates - 1);
  Options.MoreMs = 55;
  auto Second = S.run(Kernels, Options);
  ASSERT_TRUE(Second) << Second.error().message();
  EXPECT_EQ(Second->State.BudgetMs, 110u);
  EXPECT_EQ(W.Started, 1u);
}

TEST_F(SearchTest, SendsNoMoreThanItMayEvaluate) {
  SearchOptions Options;
  Options.InFlight = 16;
  Options.MaxEvaluations = 4;
  ASSERT_TRUE(search(Options));
  EXPECT_EQ(W.Submitted, 4u + W.Duplicates);
}

TEST_F(SearchTest, AVariantThatIsProposedTwiceIsEvaluatedOnce) {
  SearchOptions Options;
  Options.InFlight = 3;
  Options.Space = listed("twice", [](const SpaceInput &) {
    std::vector<Candidate> All(3);
    for (Candidate &C : All)
      C.Change.Pipeline = "mine";
    return Expected<std::vector<Candidate>>(All);
  });
  auto S = search(Options);
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_EQ(W.Ran.size(), 2u); // and the original
  EXPECT_EQ(S->State.State, "complete");
}

TEST_F(SearchTest, SpendsItsBudgetOverAllRuns) {
  SearchOptions Options;
  Options.BudgetMs = 55;
  auto First = search(Options);
  ASSERT_TRUE(First);
  EXPECT_EQ(First->State.State, "spent");
  EXPECT_EQ(inJournal(), 6u); // the sixth began within the budget
  auto Second = search(Options);
  ASSERT_TRUE(Second);
  EXPECT_EQ(inJournal(), 6u);
  Options.MoreMs = 25;
  auto Third = search(Options);
  ASSERT_TRUE(Third);
  EXPECT_EQ(Third->State.BudgetMs, 80u);
  EXPECT_EQ(inJournal(), 8u);
}

TEST_F(SearchTest, CountsEvaluationsOverAllRuns) {
  SearchOptions Options;
  Options.MaxEvaluations = 4;
  ASSERT_TRUE(search(Options));
  EXPECT_EQ(W.Ran.size(), 5u); // and the original
  Options.MaxEvaluations = 6;
  ASSERT_TRUE(search(Options));
  EXPECT_EQ(W.Ran.size(), 7u);
}

TEST_F(SearchTest, ReplacesALostWorker) {
  W.LoseAt = "O1";
  auto S = search();
  ASSERT_TRUE(S) << S.error().message();
  size_t Lost = S->Kernels[0].Counts[Outcome::WorkerLost];
  EXPECT_GT(Lost, 0u);
  EXPECT_EQ(S->WorkersLost, Lost);
  EXPECT_EQ(W.Started, 1 + Lost);
  EXPECT_EQ(S->Kernels[0].Tried, S->Kernels[0].Variants);
  // The lost ones are not tried again.
  size_t Runs = W.Ran.size();
  ASSERT_TRUE(search());
  EXPECT_EQ(W.Ran.size(), Runs);
}

TEST_F(SearchTest, KeepsAWorkerThatAnswersWithAnError) {
  W.RefuseAt = "O1";
  auto S = search();
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_GT(S->Kernels[0].Counts[Outcome::Refused], 0u);
  EXPECT_EQ(S->WorkersLost, 0u);
  EXPECT_EQ(W.Started, 1u);
}

TEST_F(SearchTest, GivesUpOnAKernelThatLosesEveryWorker) {
  W.LoseAt = "{";
  auto S = search();
  ASSERT_TRUE(S) << S.error().message();
  EXPECT_NE(S->Kernels[0].Skipped.find("5 workers lost"), std::string::npos);
  EXPECT_EQ(S->WorkersLost, 5u);
}

TEST_F(SearchTest, LeavesOutWhatDoesNotReproduce) {
  W.Reproduces = false;
  auto S = search();
  ASSERT_TRUE(S);
  EXPECT_NE(S->Kernels[0].Skipped.find("not-verifiable"), std::string::npos);
  EXPECT_TRUE(W.Ran.empty());
  EXPECT_EQ(inJournal(), 0u);
}

TEST_F(SearchTest, NeverTakesAWrongOneForTheBest) {
  W.WrongAt = "O3";
  auto S = search();
  ASSERT_TRUE(S);
  EXPECT_GT(S->Kernels[0].Counts[Outcome::Wrong], 0u);
  ASSERT_TRUE(S->Kernels[0].Best);
  EXPECT_EQ(S->Kernels[0].Best->Change.canonicalJson().find("O3"),
            std::string::npos);
}

TEST_F(SearchTest, SharesTheBudgetByShareOfTime) {
  Kernels.push_back(Kernels[0]);
  Kernels[0].Share = 0.75;
  Kernels[1].Share = 0.25;
  Kernels[1].About.Key = "k2";
  Kernels[1].Recordings[0].About.Digest = "d2";
  SearchOptions Options;
  Options.BudgetMs = 200;
  auto S = search(Options);
  ASSERT_TRUE(S);
  EXPECT_EQ(S->Kernels[0].Tried, 14u); // 150 ms, less the original
  EXPECT_EQ(S->Kernels[1].Tried, 4u);  // 50 ms
}

TEST_F(SearchTest, SharesTheEvaluationsToo) {
  Kernels.push_back(Kernels[0]);
  Kernels[0].Share = 0.75;
  Kernels[1].Share = 0.25;
  Kernels[1].About.Key = "k2";
  Kernels[1].Recordings[0].About.Digest = "d2";
  SearchOptions Options;
  Options.MaxEvaluations = 8;
  auto S = search(Options);
  ASSERT_TRUE(S);
  auto Evaluated = [](KernelProgress &P) {
    return P.Tried - P.Counts[Outcome::Duplicate];
  };
  EXPECT_EQ(Evaluated(S->Kernels[0]), 6u);
  EXPECT_EQ(Evaluated(S->Kernels[1]), 2u);
}

TEST_F(SearchTest, SharesTheSameEvaluationsWhereItGoesOn) {
  Kernels.push_back(Kernels[0]);
  Kernels[1].About.Key = "k2";
  Kernels[1].Recordings[0].About.Digest = "d2";
  SearchOptions Options;
  Options.MaxEvaluations = 8;
  auto Evaluated = [](KernelProgress &P) {
    return P.Tried - P.Counts[Outcome::Duplicate];
  };
  for (size_t After : {3, 4, 7, 0}) {
    W.StopAfter = After;
    W.Stop = false;
    auto S = search(Options);
    ASSERT_TRUE(S);
    if (After)
      continue;
    EXPECT_EQ(Evaluated(S->Kernels[0]), 4u);
    EXPECT_EQ(Evaluated(S->Kernels[1]), 4u);
  }
}

TEST_F(SearchTest, RefusesAnotherDeviceInTheMiddle) {
  auto Log = Journal::openForWriting(Folder / "journal.db", "a test");
  ASSERT_TRUE(Log);
  EvaluatorSource Source = [this]() -> Expected<std::unique_ptr<Evaluator>> {
    W.Key = ++W.Started == 1 ? "one" : "two";
    return std::unique_ptr<Evaluator>(new FakeEvaluator(W));
  };
  SearchObserver Nobody;
  W.LoseAt = "{";
  Search S(**Log, Source, [this] { return W.NowMs; }, Nobody, W.Stop);
  EXPECT_TRUE(failsWith(S.run(Kernels, {}), "the search began on one"));
}

} // namespace
