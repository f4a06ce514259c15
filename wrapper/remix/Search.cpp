// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver of the search: sessions, budget, what the journal knows, and the
// loop over variants. What happens in one evaluation is in SearchStep.cpp.
#include "wrapper/remix/Search.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

namespace r3 {

std::string settingOf(const SearchKernel &Kernel,
                      const DeviceIdentity &Device) {
  std::string Text = Device.Backend + "\n" + Device.Key + "\n" + Device.Tools;
  for (const SearchRecording &R : Kernel.Recordings)
    Text += "\n" + R.About.Digest;
  return contentDigest(Text).hex();
}

std::string sessionIdentity(const std::vector<SearchKernel> &Kernels,
                            const DeviceIdentity &Device,
                            const SearchOptions &Options) {
  std::string Text = Options.Space.Name + "\n" + std::to_string(Options.Seed);
  std::vector<std::string> Parts;
  for (const SearchKernel &K : Kernels)
    Parts.push_back(K.About.Key + " " + settingOf(K, Device));
  // The order of kernels follows their share of time, which every further run
  // of the program changes a little.
  std::sort(Parts.begin(), Parts.end());
  for (const std::string &Part : Parts)
    Text += "\n" + Part;
  return contentDigest(Text).hex();
}

double SearchKernel::weight() const {
  constexpr double Least = 0.001; // some time for all that are searched
  return isSearched() ? std::max(Share * Above.part().value_or(1), Least) : 0;
}

SpaceInput spaceInput(const SearchKernel &Kernel, const DeviceIdentity &Device,
                      const std::map<std::string, std::string> &Pipelines,
                      uint64_t Seed) {
  SpaceInput Input;
  Input.Backend = Device.Backend;
  Input.Level = Kernel.Level;
  Input.Arch = Kernel.Arch;
  Input.Launches = Kernel.Launches;
  Input.Pipelines = Pipelines;
  Input.Seed = Seed ^ contentDigest(Kernel.About.Key).Low;
  return Input;
}

static Candidate originalCandidate() { return {Variant(), "original"}; }

uint64_t monotonicMs() {
  using namespace std::chrono;
  return uint64_t(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch())
          .count());
}

Expected<SearchSummary> Search::run(const std::vector<SearchKernel> &Kernels,
                                    const SearchOptions &Wanted) {
  Options = Wanted;
  Summary = SearchSummary();
  Met = 0;
  ChargedAtMs = Now();
  if (Error E = ensureWorker())
    return E;
  if (Error E = openSession(Kernels))
    return E;
  Observer.started(Summary.State, Summary.Device);
  // From here on the session is fixed; only its time and evaluations grow.

  double WeightLeft = 0;
  for (const SearchKernel &K : Kernels)
    WeightLeft += K.weight();
  for (const SearchKernel &K : Kernels) {
    KernelProgress &Progress = Summary.Kernels.emplace_back();
    Progress.Kernel = &K;
    Progress.Setting = settingOf(K, Summary.Device);
    if (!K.isSearched()) {
      Progress.NoHeadroom = true;
      Progress.Skipped = format(
          "no headroom: its recordings take %.1f us, memory alone %.1f us",
          K.Above.TimeUs, K.Above.FloorUs);
      continue;
    }
    if (Error E = searchKernel(Progress, K.weight() / WeightLeft))
      return E;
    WeightLeft -= K.weight();
  }

  chargeTime();
  Summary.Interrupted = Stop;
  Summary.State.State = endState();
  if (Error E = Log.updateSession(Summary.State))
    return E;
  return std::move(Summary);
}

std::string Search::endState() const {
  bool Complete = true, Settled = true;
  for (const KernelProgress &P : Summary.Kernels) {
    if (P.NoHeadroom)
      continue;
    Complete &= P.Complete;
    Settled &= P.Complete || P.Settled;
  }
  return Complete    ? "complete"
         : Settled   ? "settled"
         : isSpent() ? "spent"
                     : "open";
}

Error Search::openSession(const std::vector<SearchKernel> &Kernels) {
  for (const SearchKernel &K : Kernels) {
    std::vector<JournalRecording> Recordings;
    for (const SearchRecording &R : K.Recordings)
      Recordings.push_back(R.About);
    if (Error E = Log.noteKernel(K.About, Recordings))
      return E;
  }
  SessionSpec Spec;
  Spec.Identity = sessionIdentity(Kernels, Summary.Device, Options);
  Spec.Backend = Summary.Device.Backend;
  Spec.Device = Summary.Device.Key;
  Spec.Tools = Summary.Device.Tools;
  Spec.Space = Options.Space.Name;
  Spec.Seed = Options.Seed;
  Spec.BudgetMs = Options.BudgetMs;
  Spec.MaxEvaluations = Options.MaxEvaluations;
  Spec.InFlight =
      Options.InFlight ? Options.InFlight : 2 * Worker->compilers() + 2;
  auto S = Log.openSession(Spec);
  if (!S)
    return S.error();
  Summary.State = *S;
  Summary.State.BudgetMs += Options.MoreMs;
  return Error::success();
}

Error Search::searchKernel(KernelProgress &Progress, double BudgetShare) {
  const SearchKernel &Kernel = *Progress.Kernel;
  auto From = open(Kernel);
  if (!From)
    return From.error().in(Kernel.About.Name);
  Progress.Variants = (*From)->count();

  const Session &State = Summary.State;
  uint64_t LeftMs = State.BudgetMs - std::min(State.BudgetMs, State.SpentMs);
  // Rounded, so that the last kernel has all that is left.
  UntilMs =
      State.SpentMs + uint64_t(std::llround(BudgetShare * double(LeftMs)));
  UntilEvaluations = UINT64_MAX;
  if (State.MaxEvaluations) {
    const uint64_t Left =
        State.MaxEvaluations - std::min(State.MaxEvaluations, Met);
    UntilEvaluations =
        Met + uint64_t(std::max(1LL, std::llround(BudgetShare * double(Left))));
  }

  auto Before = recall(Progress, originalCandidate().Change.id().hex());
  if (!Before)
    return Before.error();
  HasOriginal = Before->has_value();
  if (HasOriginal)
    account(Progress, **Before, /*Fresh=*/false);
  Out.clear();
  Exhausted = false;
  while (!Stop) {
    if (Options.Patience && Progress.SinceBest >= Options.Patience) {
      Progress.Settled = true;
      break;
    }
    propose(**From);
    if (Out.empty()) {
      Progress.Complete = true;
      return Error::success();
    }
    std::optional<double> Cost;
    auto Answered = answerOldest(Progress, Cost);
    if (!Answered)
      return Answered.error();
    if (!*Answered)
      break;
    Out.pop_front();
    (*From)->learn(Cost);
  }
  dropAhead();
  return Error::success();
}

/// How many are out depends on nothing else: neither on what the journal knows
/// nor on what is left of the budget.
void Search::propose(Proposals &From) {
  while (!Exhausted && Out.size() < Summary.State.InFlight)
    if (auto Next = From.next()) {
      std::string Id = Next->Change.id().hex();
      Out.push_back({std::move(*Next), std::move(Id)});
    } else {
      Exhausted = true;
    }
}

/// The original needs a worker, and is only tried with the first variant that
/// the journal does not know.
Expected<bool> Search::answerOldest(KernelProgress &Progress,
                                    std::optional<double> &Cost) {
  if (!Out.front().Sent) {
    auto Known = recall(Progress, Out.front().Id);
    if (!Known)
      return Known.error();
    if (*Known) {
      account(Progress, **Known, /*Fresh=*/false);
      auto Found = costOf(**Known);
      if (!Found)
        return Found.error();
      Cost = *Found;
      return true;
    }
  }
  if (!std::exchange(HasOriginal, true)) {
    auto Tried = tryOne(Progress, originalCandidate(), &Cost);
    if (!Tried || !*Tried)
      return Tried;
  }
  return tryOne(Progress, Out.front().Next, &Cost);
}

Expected<std::unique_ptr<Proposals>> Search::open(const SearchKernel &Kernel) {
  return Options.Space.Open(
      spaceInput(Kernel, Summary.Device, Pipelines, Options.Seed));
}

Expected<std::optional<Evaluation>>
Search::recall(const KernelProgress &Progress, const std::string &VariantId) {
  return Log.find(Progress.Kernel->About.Key, Progress.Setting, VariantId);
}

bool Search::mayGoOn(size_t Ahead) const {
  const Session &State = Summary.State;
  return !Stop && !isSpent() && State.SpentMs < UntilMs &&
         Met + Ahead < UntilEvaluations &&
         (!State.MaxEvaluations ||
          State.Evaluations + Ahead < State.MaxEvaluations);
}

Expected<bool> Search::tryOne(KernelProgress &Progress, const Candidate &Next,
                              std::optional<double> *Cost) {
  chargeTime();
  if (!mayGoOn())
    return false;
  if (Error E = prepareKernel(Progress))
    return E;
  if (Stop || !Progress.Skipped.empty())
    return false;
  if (!Next.Change.isOriginal())
    if (Error E = sendAhead(Progress))
      return E;
  auto Made = evaluateOne(Progress, Next);
  if (!Made && Made.error().code() == ErrorCode::Interrupted)
    return false;
  if (!Made)
    return Made.error();
  // What the journal answered was not evaluated.
  if (!Next.Change.isOriginal() && Made->Result != Outcome::Duplicate)
    ++Summary.State.Evaluations;
  chargeTime();
  if (Error E = Log.add({&*Made, 1}, Summary.State))
    return E;
  account(Progress, *Made, /*Fresh=*/true);
  auto Found = costOf(*Made);
  if (!Found)
    return Found.error();
  *Cost = *Found;
  return true;
}

void Search::account(KernelProgress &Progress, const Evaluation &Made,
                     bool Fresh) {
  if (Made.Change.isOriginal()) {
    Progress.Noise = Made.Gain;
  } else {
    Met +=
        Made.Session == Summary.State.Id && Made.Result != Outcome::Duplicate;
    ++Progress.Tried;
    ++Progress.SinceBest;
    ++Progress.Counts[Made.Result];
    bool Better = !Progress.Best || Made.Gain.Low > Progress.Best->Gain.Low;
    if (Made.Result == Outcome::Ok && Better) {
      Progress.Best = Made;
      Progress.SinceBest = 0;
    }
  }
  Observer.evaluated(Progress, Made, Summary.State, Fresh);
}

void Search::chargeTime() {
  uint64_t At = Now();
  Summary.State.SpentMs += At - ChargedAtMs;
  ChargedAtMs = At;
}

bool Search::isSpent() const {
  const Session &State = Summary.State;
  return State.SpentMs >= State.BudgetMs ||
         (State.MaxEvaluations && State.Evaluations >= State.MaxEvaluations);
}

} // namespace r3
