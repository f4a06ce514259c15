// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 remix: puts the kernels of the store into a search, shows what it does,
// and prints what it found. The search itself is in wrapper/remix.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/SearchReport.h"
#include "wrapper/r3/SearchWatcher.h"
#include "wrapper/r3/StatusWriter.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/optimizer/Optimizer.h"

#include <chrono>

namespace r3 {

namespace {

uint64_t monotonicMs() {
  using namespace std::chrono;
  return uint64_t(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch())
          .count());
}

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
    Options.choice("--space", Space, {"full", "thin"},
                   "what is searched: all of docs/SPACE.md, or some forty "
                   "variants in random order (default: full)");
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
    Options.flag("--json", Json, "print JSON");
    Options.count("--compilers", Compilers,
                  "variants that are built at once while another one runs "
                  "(default: one for each core that the worker may use, but "
                  "one)");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start workers through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    Search.BudgetMs =
        BudgetMs ? BudgetMs
                 : Given.Project.RemixBudgetMs.value_or(Search.BudgetMs);
    if (Error E = chooseSpace(Given.Project))
      return E;
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Chosen = Recorded.select(Given.Backend, Patterns);
    if (!Chosen)
      return Chosen.error();
    for (const CatalogueKernel *K : *Chosen)
      addKernel(Given, *K);
    if (Kernels.empty())
      return fail(ErrorCode::Failed, "nothing can be searched: %s",
                  (*Chosen)[0]->state().c_str());

    auto Log = Journal::openForWriting(From->journalPath(), "r3 remix");
    if (!Log)
      return Log.error();
    if (!(*Log)->notice().empty())
      Given.warn((*Log)->notice());
    StatusPath = From->statusPath();
    if (Error E = searchWith(Given, **Log))
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
    if (Name == "full")
      Search.Space = optimizerProposals(
          Optimizer.empty() ? "bayesian" : Optimizer, Project.Space);
    else if (!Optimizer.empty())
      return fail(ErrorCode::Usage,
                  "--optimizer searches the full space: add --space full");
    return Error::success();
  }

  void addKernel(Context &Given, const CatalogueKernel &K) {
    SearchKernel S = searchKernel(K);
    if (S.Recordings.empty()) {
      Given.Err.print("r3: " + printable(K.Display) +
                      " is left out: " + K.state() + "\n");
      return;
    }
    Kernels.push_back(std::move(S));
    GateSees.push_back(gateRecordings(K));
  }

  Error searchWith(Context &Given, Journal &Log) {
    auto Known = Given.workerOptions(Launcher, Unordered);
    if (!Known)
      return Known.error();
    WorkerOptions Options = std::move(*Known);
    Options.Compilers = unsigned(std::min<uint64_t>(Compilers, UINT32_MAX));
    Given.trace({"worker", Options.Backend, Options.StorePath});
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    SearchWatcher Watcher(Given, Line, Kernels.size());
    StatusWriter Status(StatusPath, Kernels.size(), Watcher);
    r3::Search S(Log, workerSource(Options), monotonicMs, Status,
                 Signals.flag());
    Error E = searchAndConfirm(S, Log, workerSource(Options), Line, Status,
                               Signals.flag());
    Report.Summary.Interrupted |= E && E.code() == ErrorCode::Interrupted;
    if (E && !Report.Summary.Interrupted) {
      Status.ended("failed: " + E.message());
      return E;
    }
    Status.ended(Report.state());
    return Error::success();
  }

  Error searchAndConfirm(r3::Search &S, Journal &Log,
                         const EvaluatorSource &Source, Progress &Line,
                         StatusWriter &Status, const std::atomic<bool> &Stop) {
    auto Summary = S.run(Kernels, Search);
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
      if (P.Skipped.empty())
        return 0;
    return fail(ErrorCode::Failed, "no kernel could be searched: %s",
                Summary.Kernels[0].Skipped.c_str());
  }

  std::string StatusPath;
  std::vector<std::string> Patterns, Unordered;
  SearchOptions Search;
  uint64_t BudgetMs = 0;          // 0: not given
  uint64_t Patience = UINT64_MAX; // not given
  uint64_t Compilers = 0;         // 0: the worker's choice
  bool Json = false, NoConfirm = false;
  std::string Launcher, Space, Optimizer;
  std::vector<SearchKernel> Kernels;
  std::vector<std::vector<SearchRecording>> GateSees; // one a kernel
  SearchReport Report;
};

} // namespace

std::unique_ptr<Command> makeRemix() { return std::make_unique<Remix>(); }

} // namespace r3
