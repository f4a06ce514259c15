// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search: for each kernel in turn, variants as they are proposed, each
// built, replayed, verified and timed by a worker, each once. Several are out
// at once; what came of them is learnt in the order of proposals. What proposes
// and evaluates, the clock and what watches come in through interfaces, so that
// a search can be tested, and repeated from its journal, without a device.
#pragma once

#include "runtime/support/Worker.h"
#include "wrapper/remix/Journal.h"
#include "wrapper/remix/Proposals.h"
#include "wrapper/remix/space/Dimensions.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace r3 {

/// Builds, replays and times.
class Evaluator {
public:
  virtual ~Evaluator() = default;
  /// Whether the last failure was its own end: replace it then.
  virtual bool isLost() const = 0;
  virtual const DeviceIdentity &identity() const = 0;
  virtual const std::map<std::string, std::string> &pipelines() const = 0;
  virtual Error load(const std::vector<std::string> &ManifestPaths) = 0;
  virtual Expected<ReplayReport> prepare(size_t Recording,
                                         unsigned Repetitions) = 0;
  virtual Expected<EvaluationReport>
  evaluate(const EvaluationRequest &What) = 0;

  // As Worker has them; here for evaluators that do one thing at a time.
  virtual unsigned compilers() const { return 1; }
  virtual Error know(const std::vector<KnownBinary> &) { return {}; }
  virtual Error submit(const EvaluationRequest &What) {
    Submitted.push_back(What);
    return {};
  }
  virtual Expected<EvaluationReport> next() {
    if (Submitted.empty())
      return fail(ErrorCode::Usage, "nothing was submitted");
    const EvaluationRequest Oldest = std::move(Submitted.front());
    Submitted.pop_front();
    return evaluate(Oldest);
  }
  virtual void drop() { Submitted.clear(); }

  virtual Expected<MeasurementReport>
  measure(const MeasurementRequest &What) = 0;
  virtual Expected<NvccReport> nvcc() = 0;
  virtual Expected<RatesReport> rates() = 0;

private:
  std::deque<EvaluationRequest> Submitted;
};

using EvaluatorSource = std::function<Expected<std::unique_ptr<Evaluator>>()>;
/// Starts workers as processes.
EvaluatorSource workerSource(const WorkerOptions &Options);

struct SearchRecording {
  std::string Path; // of the manifest
  JournalRecording About;
  bool Held = false; // out of the search: only the gate sees it
};

/// Of a kernel's recorded launches together, see Headroom.h.
struct Headroom {
  double TimeUs = 0, FloorUs = 0;
  std::string Unknown = "not measured"; // why; empty: it is known

  /// Of the time, 0..1; none: not known.
  std::optional<double> part() const;
  /// It is known that there is none.
  bool isNone() const;
};

struct SearchKernel {
  JournalKernel About;
  std::string Level; // of the program's unit
  double Share = 0;  // of the run time, 0..1
  std::vector<SearchRecording> Recordings;
  std::string Arch;                  // of its device code: "sm_90"
  std::vector<SpaceLaunch> Launches; // what Recordings hold
  Headroom Above;
  bool Named = false; // is searched without headroom, too

  /// Its part of a search is this to the sum of all.
  double weight() const;
  bool isSearched() const { return Named || !Above.isNone(); }
};

/// Loads a kernel's recordings and replays each so often; the places of those
/// in which the original reproduces. LeftOut is told why of the others. Fails
/// where there is none.
Expected<std::vector<size_t>> replayOriginals(
    Evaluator &Worker, const SearchKernel &Kernel, unsigned Repetitions,
    const std::function<void(size_t, const std::string &)> &LeftOut = {});

/// A budget that time does not use up.
inline constexpr uint64_t NoTimeLimit = uint64_t(1) << 62;

struct SearchOptions {
  ProposalSource Space = thinProposals();
  uint64_t Seed = 0;
  uint64_t BudgetMs = 20 * 60 * 1000;
  uint64_t MoreMs = 0; // added to an existing session's budget
  uint64_t MaxEvaluations = 0;
  /// So many variants of a kernel without a better one, and the next kernel has
  /// its turn; 0: no limit.
  uint64_t Patience = 0;
  unsigned Pairs = 8;
  unsigned Repetitions = 3; // of the original, before anything is tried
  /// Proposals that are out at once in a new session; 0: for each compile
  /// worker one that it builds and one that waits, one that is judged, and one
  /// that is proposed meanwhile.
  unsigned InFlight = 0;
};

/// What a kernel's search has come to.
struct KernelProgress {
  const SearchKernel *Kernel = nullptr;
  std::string Setting;
  std::optional<size_t> Variants;   // in the space, where that is known
  size_t Tried = 0;                 // of those, now and before
  bool Complete = false;            // there are no others
  size_t SinceBest = 0;             // tried since the best was found
  bool Settled = false;             // that many that patience was at its end
  std::map<Outcome, size_t> Counts; // by outcome
  RatioSpread Noise;                // original against itself
  std::optional<Evaluation> Best;   // ok, highest lower quartile
  std::string Skipped;              // empty, or why it was not searched
  bool NoHeadroom = false;          // that is why
};

struct SearchSummary {
  Session State;
  DeviceIdentity Device;
  std::vector<KernelProgress> Kernels;
  size_t WorkersLost = 0;
  bool Interrupted = false;
};

/// Told of every step, on the search's thread.
class SearchObserver {
public:
  virtual ~SearchObserver() = default;
  virtual void started(const Session &, const DeviceIdentity &) {}
  virtual void preparing(const SearchKernel &) {}
  /// Fresh is false for what the journal knew.
  virtual void evaluated(const KernelProgress &, const Evaluation &,
                         const Session &, bool Fresh) {
    (void)Fresh;
  }
  virtual void warn(const std::string &) {}
};

/// Milliseconds of a clock that only goes forward.
using Clock = std::function<uint64_t()>;
/// The system's.
uint64_t monotonicMs();

/// What a timing depends on besides the variant: under this a kernel's
/// evaluations are in the journal.
std::string settingOf(const SearchKernel &Kernel, const DeviceIdentity &Device);
/// Under this the session is.
std::string sessionIdentity(const std::vector<SearchKernel> &Kernels,
                            const DeviceIdentity &Device,
                            const SearchOptions &Options);
/// Seed: of the search.
SpaceInput spaceInput(const SearchKernel &Kernel, const DeviceIdentity &Device,
                      const std::map<std::string, std::string> &Pipelines,
                      uint64_t Seed);

class Search {
public:
  Search(Journal &Log, EvaluatorSource Source, Clock Now,
         SearchObserver &Observer, const std::atomic<bool> &Stop)
      : Log(Log), Source(std::move(Source)), Now(std::move(Now)),
        Observer(Observer), Stop(Stop) {}

  /// Searches until the space, the budget or the limit is used up or Stop is
  /// set; whatever was evaluated is in the journal then. Fails where no worker
  /// can be started or the journal cannot be written. Kernels must outlive the
  /// summary.
  Expected<SearchSummary> run(const std::vector<SearchKernel> &Kernels,
                              const SearchOptions &Options);

private:
  Error openSession(const std::vector<SearchKernel> &Kernels);
  Error searchKernel(KernelProgress &Progress, double BudgetShare);
  Expected<std::unique_ptr<Proposals>> open(const SearchKernel &Kernel);
  /// A variant that was proposed and not learnt of.
  struct Proposed {
    Candidate Next;
    std::string Id;    // of the variant
    bool Sent = false; // to the current worker
  };
  /// Proposes until so many are out as there may be.
  void propose(Proposals &From);
  /// Finds out what the oldest that is out costs. False where the search ends
  /// here.
  Expected<bool> answerOldest(KernelProgress &Progress,
                              std::optional<double> &Cost);
  /// What the journal knows of a variant.
  Expected<std::optional<Evaluation>> recall(const KernelProgress &Progress,
                                             const std::string &VariantId);
  /// Evaluates what is not in the journal. False where the search ends here.
  Expected<bool> tryOne(KernelProgress &Progress, const Candidate &Next,
                        std::optional<double> *Cost);
  /// Ahead: so many are evaluated before.
  bool mayGoOn(size_t Ahead = 0) const;
  /// Gives what is out, and not known, to the worker.
  Error sendAhead(const KernelProgress &Progress);
  void dropAhead();

  Error ensureWorker();
  /// Loads the kernel into the current worker, unless it is there, and replays
  /// the originals. Sets Progress.Skipped where none of them reproduces.
  Error prepareKernel(KernelProgress &Progress);
  Error replayOriginals(KernelProgress &Progress);
  void loseWorker(const Error &Why);

  Expected<Evaluation> evaluateOne(KernelProgress &Progress,
                                   const Candidate &Next);
  Expected<EvaluationReport> askWorker(KernelProgress &Progress,
                                       const Candidate &Next);
  EvaluationRequest request(const KernelProgress &Progress,
                            const Candidate &Next) const;
  Error tellKnown(const KernelProgress &Progress);
  Error answerDuplicate(Evaluation &Made);
  /// Its time over the original's; none where it is not right or does not run.
  Expected<std::optional<double>> costOf(const Evaluation &Made);
  void account(KernelProgress &Progress, const Evaluation &Made, bool Fresh);
  void chargeTime();
  bool isSpent() const;
  std::string endState() const;

  Journal &Log;
  EvaluatorSource Source;
  Clock Now;
  SearchObserver &Observer;
  const std::atomic<bool> &Stop;

  SearchOptions Options;
  SearchSummary Summary;
  std::unique_ptr<Evaluator> Worker;
  std::map<std::string, std::string> Pipelines;
  const SearchKernel *Loaded = nullptr; // by the current worker
  std::vector<size_t> Reproducing;      // recordings of the loaded kernel
  std::deque<Proposed> Out;             // the oldest first
  bool Exhausted = false;               // there are no other proposals
  bool HasOriginal = false;             // was evaluated
  uint64_t ChargedAtMs = 0;
  // What the current kernel may use of the session's budget.
  uint64_t UntilMs = 0, UntilEvaluations = 0;
  /// Evaluations of the session that were made or met again. A search that goes
  /// on counts as it did before, so that each kernel has the same part.
  uint64_t Met = 0;
  unsigned LostInARow = 0;
};

} // namespace r3
