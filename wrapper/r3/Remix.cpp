// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 remix: puts the kernels of the store into a search, shows what it does,
// and prints what it found. The search itself is in wrapper/remix.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/SearchPlan.h"
#include "wrapper/r3/SearchReport.h"
#include "wrapper/r3/SearchWatcher.h"
#include "wrapper/r3/StatusWriter.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Headroom.h"
#include "wrapper/remix/TimesTable.h"
#include "wrapper/remix/optimizer/Optimizer.h"

#include <algorithm>
#include <numeric>

namespace r3 {

namespace {

uint64_t standingStill() { return 0; }

/// On every machine the same: what is proposed depends on it.
constexpr unsigned DeterministicInFlight = 4;

/// On the measured spaces of `bench/run optimizer` a search that waits so long
/// finds the best; after 300 it misses 0.5 % in the mean and 3 % at worst.
constexpr uint64_t DefaultPatience = 500;

class Remix : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("KERNEL", Patterns, "",
                  "kernels by name, part of it or key (default: all)");
    Options.duration("--budget", BudgetMs,
                     "time of the whole search, over all runs of this command "
                     "(default: 20m)");
    Options.duration("--more", Search.MoreMs, "add time to the budget");
    Options.count(
        "--max-evals", Search.MaxEvaluations,
        "evaluations of the whole search; variants with a binary that "
        "was seen before do not count (default: no limit)");
    Options.count("--patience", Patience,
                  "variants of a kernel without a better one, after which the "
                  "next kernel has its turn; 0: no limit (default: 500)");
    Options.choice("--space", Space, spaceNames(),
                   "what is searched: all of docs/SPACE.md, what of it a build "
                   "can bring about, or some forty variants in random order "
                   "(default: full)");
    Options.choice("--optimizer", Optimizer, optimizerNames(),
                   "what searches the full space: Bayesian optimisation, or to "
                   "compare with, another (default: bayesian)");
    Options.count("--seed", Search.Seed, "another order of variants");
    Options.flag("--no-confirm", NoConfirm,
                 "search only: the best is not sent through the gate; the same "
                 "command without this does it");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.text(
        "--deterministic", TimesPath, "TABLE",
        "take times from TABLE, a file to which what it lacks is added "
        "when it was measured; nothing depends on the clock then: the "
        "budget is --max-evals, and nothing is sent through the gate");
    Options.flag("--plan", Plan,
                 "print what would be done and spent, and what is known, and "
                 "stop: nothing is written");
    Options.flag("--json", Json, "print JSON");
    Options.count(
        "--compilers", Compilers,
        "variants that are built at once while another one runs "
        "(default: one for each core that the worker may use, of more "
        "than two but one)");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start workers through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    Search.BudgetMs =
        BudgetMs ? BudgetMs
                 : Given.Project.RemixBudgetMs.value_or(Search.BudgetMs);
    if (Error E = chooseSpace(Given.Project))
      return E;
    if (!TimesPath.empty())
      if (Error E = leaveTheClock())
        return E;
    auto From = Given.openStore();
    if (!From)
      return From.error();
    if (Error E = chooseKernels(Given, *From))
      return E;
    auto Workers = Given.workerOptions(Launcher, Unordered);
    if (!Workers)
      return Workers.error();
    Workers->Compilers = unsigned(std::min<uint64_t>(Compilers, UINT32_MAX));
    Given.trace({"worker", Workers->Backend, Workers->StorePath});
    auto Source = openSource(*Workers);
    if (!Source)
      return Source.error();
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    if (Plan)
      return plan(Given, *From, *Source, Line, Signals.flag());

    auto Log = Journal::openForWriting(From->journalPath(), "r3 remix");
    if (!Log)
      return Log.error();
    if (!(*Log)->notice().empty())
      Given.warn((*Log)->notice());
    if (Error E = order(*Source, Line, Signals.flag()))
      return E;
    sayNoHeadroom(Given);
    // From here on the kernels and their order are fixed.

    SearchWatcher Watcher(Given, Line, Kernels.size());
    StatusWriter Status(From->statusPath(), Kernels.size(), Watcher);
    if (Error E = search(**Log, *Source, Line, Status, Signals.flag()))
      return E;
    // From here on the journal is only read.

    if (!Json)
      Report.print(Given);
    else if (Error E = Report.printJson(Given, **Log))
      return E;
    return status(Report.Summary);
  }

private:
  Error chooseSpace(const Config &Project) {
    Search.Patience = Patience != UINT64_MAX
                          ? Patience
                          : Project.RemixPatience.value_or(DefaultPatience);
    const std::string Name = !Space.empty()                ? Space
                             : !Project.RemixSpace.empty() ? Project.RemixSpace
                                                           : "full";
    if (Name == "thin" && !Optimizer.empty())
      return fail(ErrorCode::Usage,
                  "--optimizer searches the full space: add --space full");
    SpaceLimits Limits = Project.Space;
    Limits.Applicable = Name == "applicable";
    if (Name != "thin")
      Search.Space = optimizerProposals(
          Optimizer.empty() ? "bayesian" : Optimizer, Limits);
    return Error::success();
  }

  Error chooseKernels(Context &Given, const Store &From) {
    const Catalogue Recorded = Given.readCatalogue(From);
    auto Chosen = Recorded.select(Given.Backend, Patterns);
    if (!Chosen)
      return Chosen.error();
    for (const CatalogueKernel *K : *Chosen) {
      SearchKernel S = searchKernel(*K);
      if (S.Recordings.empty()) {
        Given.Err.print("r3: " + printable(K->Display) +
                        " is left out: " + K->state() + "\n");
        continue;
      }
      S.Named = !Patterns.empty();
      Kernels.push_back(std::move(S));
      GateSees.push_back(gateRecordings(*K));
    }
    if (Kernels.empty())
      return fail(ErrorCode::Failed, "nothing can be searched: %s",
                  (*Chosen)[0]->state().c_str());
    return Error::success();
  }

  Error leaveTheClock() {
    if (!Search.MaxEvaluations)
      return fail(ErrorCode::Usage,
                  "--deterministic counts evaluations: add --max-evals");
    if (BudgetMs || Search.MoreMs)
      return fail(ErrorCode::Usage, "--deterministic counts evaluations: leave "
                                    "--budget and --more away");
    Search.BudgetMs = NoTimeLimit;
    Search.InFlight = DeterministicInFlight;
    Search.Space.Name += ", deterministic";
    NoConfirm = true;
    return Error::success();
  }

  Expected<EvaluatorSource> openSource(const WorkerOptions &Options) {
    if (TimesPath.empty())
      return workerSource(Options);
    auto Table = TimesTable::open(TimesPath);
    if (!Table)
      return Table.error();
    return recordedTimes(workerSource(Options), std::move(*Table), Kernels);
  }

  /// First those in which there is most to gain.
  Error order(const EvaluatorSource &Source, Progress &Line,
              const std::atomic<bool> &Stop) {
    if (!TimesPath.empty()) { // headroom is measured
      for (SearchKernel &K : Kernels)
        K.Above.Unknown = "not measured in a deterministic search";
    } else if (Error E = measureHeadroom(
                   Source, Kernels, Search.Repetitions,
                   [&](const SearchKernel &K) {
                     Line.update(K.About.Name + ": measuring headroom", -1);
                   },
                   Stop))
      return E;
    std::vector<size_t> Places(Kernels.size());
    std::iota(Places.begin(), Places.end(), 0);
    std::stable_sort(Places.begin(), Places.end(), [&](size_t A, size_t B) {
      return Kernels[A].weight() > Kernels[B].weight();
    });
    std::vector<SearchKernel> Ordered;
    std::vector<std::vector<SearchRecording>> OrderedSees;
    for (size_t Place : Places) {
      Ordered.push_back(std::move(Kernels[Place]));
      OrderedSees.push_back(std::move(GateSees[Place]));
    }
    Kernels = std::move(Ordered);
    GateSees = std::move(OrderedSees);
    return Error::success();
  }

  void sayNoHeadroom(Context &Given) const {
    for (const SearchKernel &K : Kernels)
      if (K.Above.isNone())
        Given.Err.print("r3: " + printable(K.About.Name) + " has no headroom" +
                        (K.isSearched()
                             ? "\n"
                             : " and is not searched, unless it is named\n"));
  }

  Expected<int> plan(Context &Given, const Store &From,
                     const EvaluatorSource &Source, Progress &Line,
                     const std::atomic<bool> &Stop) {
    if (Error E = order(Source, Line, Stop))
      return E;
    auto Worker = Source();
    if (!Worker)
      return Worker.error().in("the worker did not start");
    auto Log = Journal::openForReading(From.journalPath());
    if (!Log && Log.error().code() != ErrorCode::NotFound)
      return Log.error();
    auto Made = SearchPlan::make(Kernels, GateSees, Search, **Worker,
                                 Log ? Log->get() : nullptr);
    if (!Made)
      return Made.error();
    Line.clear();
    if (Json)
      Made->printJson(Given);
    else
      Made->print(Given);
    return 0;
  }

  Error search(Journal &Log, const EvaluatorSource &Source, Progress &Line,
               StatusWriter &Status, const std::atomic<bool> &Stop) {
    Error E = searchAndConfirm(Log, Source, Line, Status, Stop);
    Report.Summary.Interrupted |= E && E.code() == ErrorCode::Interrupted;
    if (E && !Report.Summary.Interrupted) {
      Status.ended("failed: " + E.message());
      return E;
    }
    Status.ended(Report.state());
    return Error::success();
  }

  Error searchAndConfirm(Journal &Log, const EvaluatorSource &Source,
                         Progress &Line, StatusWriter &Status,
                         const std::atomic<bool> &Stop) {
    auto Summary =
        r3::Search(Log, Source, TimesPath.empty() ? monotonicMs : standingStill,
                   Status, Stop)
            .run(Kernels, Search);
    if (!Summary)
      return Summary.error();
    Report.Summary = std::move(*Summary);
    Report.Patience = Search.Patience;
    if (NoConfirm || Report.Summary.Interrupted)
      return Error::success();
    return confirmAll(Log, Source, Line, Status, Stop);
  }

  /// The best of each kernel through the gate.
  Error confirmAll(Journal &Log, const EvaluatorSource &Source, Progress &Line,
                   StatusWriter &Status, const std::atomic<bool> &Stop) {
    for (size_t I = 0; I < Report.Summary.Kernels.size(); ++I) {
      const KernelProgress &P = Report.Summary.Kernels[I];
      Report.Confirmed.emplace_back();
      if (!P.Best)
        continue;
      const std::string &Name = P.Kernel->About.Name;
      Status.confirming(Name);
      auto Found =
          confirm(Log, P.Kernel->About.Key, P.Setting, GateSees[I], Source,
                  Stop, [&](const std::string &Step, double Done) {
                    Line.update(Name + ": gate, " + Step, Done);
                  });
      if (!Found)
        return Found.error().in(Name);
      Report.Confirmed.back() = std::move(*Found);
    }
    return Error::success();
  }

  /// A search that found nothing has still done what it was asked for; one
  /// that could try nothing has not.
  static Expected<int> status(const SearchSummary &Summary) {
    if (Summary.Interrupted)
      return fail(ErrorCode::Interrupted, "interrupted");
    for (const KernelProgress &P : Summary.Kernels)
      if (P.Skipped.empty() || P.NoHeadroom)
        return 0;
    return fail(ErrorCode::Failed, "no kernel could be searched: %s",
                Summary.Kernels[0].Skipped.c_str());
  }

  std::vector<std::string> Patterns, Unordered;
  SearchOptions Search;
  uint64_t BudgetMs = 0;          // 0: not given
  uint64_t Patience = UINT64_MAX; // not given
  uint64_t Compilers = 0;         // 0: the worker's choice
  bool Json = false, NoConfirm = false, Plan = false;
  std::string Launcher, Space, Optimizer, TimesPath;
  std::vector<SearchKernel> Kernels;
  std::vector<std::vector<SearchRecording>> GateSees; // one a kernel
  SearchReport Report;
};

} // namespace

std::unique_ptr<Command> makeRemix() { return std::make_unique<Remix>(); }

} // namespace r3
