// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver of the search: sessions, budget, what the journal knows, and the
// loop over variants. What happens in one evaluation is in SearchStep.cpp.
#include "wrapper/remix/Search.h"

#include <algorithm>
#include <utility>

namespace r3 {

namespace {

/// What a timing depends on besides the variant.
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

Candidate originalCandidate() { return {Variant(), "original"}; }

} // namespace

Expected<SearchSummary> Search::run(const std::vector<SearchKernel> &Kernels,
                                    const SearchOptions &Wanted) {
  Options = Wanted;
  Summary = SearchSummary();
  ChargedAtMs = Now();
  if (Error E = ensureWorker())
    return E;
  if (Error E = openSession(Kernels))
    return E;
  Observer.started(Summary.State, Summary.Device);
  // From here on the session is fixed; only its time and evaluations grow.

  double ShareLeft = 0;
  for (const SearchKernel &K : Kernels)
    ShareLeft += std::max(K.Share, 0.001);
  for (const SearchKernel &K : Kernels) {
    double Share = std::max(K.Share, 0.001);
    KernelProgress &Progress = Summary.Kernels.emplace_back();
    Progress.Kernel = &K;
    Progress.Setting = settingOf(K, Summary.Device);
    if (Error E = searchKernel(Progress, Share / ShareLeft))
      return E;
    ShareLeft -= Share;
  }

  chargeTime();
  Summary.Interrupted = Stop;
  bool Complete =
      std::all_of(Summary.Kernels.begin(), Summary.Kernels.end(),
                  [](const KernelProgress &P) { return P.Complete; });
  Summary.State.State = Complete ? "complete" : isSpent() ? "spent" : "open";
  if (Error E = Log.updateSession(Summary.State))
    return E;
  return std::move(Summary);
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
  UntilMs = State.SpentMs + uint64_t(BudgetShare * double(LeftMs));
  UntilEvaluations = UINT64_MAX;
  if (State.MaxEvaluations) {
    double Left = double(State.MaxEvaluations - State.Evaluations);
    UntilEvaluations =
        State.Evaluations + std::max(uint64_t(1), uint64_t(BudgetShare * Left));
  }

  // The original needs a worker, and is only tried with the first variant that
  // the journal does not know.
  const Candidate Original = originalCandidate();
  auto Before = recall(Progress, Original);
  if (!Before)
    return Before.error();
  bool HasOriginal = Before->has_value();
  if (HasOriginal)
    account(Progress, **Before, /*Fresh=*/false);
  while (!Stop) {
    const auto Next = (*From)->next();
    if (!Next) {
      Progress.Complete = true;
      return Error::success();
    }
    auto Known = recall(Progress, *Next);
    if (!Known)
      return Known.error();
    std::optional<double> Cost;
    if (*Known) {
      account(Progress, **Known, /*Fresh=*/false);
      auto Found = costOf(**Known);
      if (!Found)
        return Found.error();
      Cost = *Found;
    } else {
      for (const Candidate *C : {&Original, &*Next}) {
        if (C == &Original && std::exchange(HasOriginal, true))
          continue;
        auto Tried = tryOne(Progress, *C, &Cost);
        if (!Tried)
          return Tried.error();
        if (!*Tried)
          return Error::success();
      }
    }
    (*From)->learn(Cost);
  }
  return Error::success();
}

Expected<std::unique_ptr<Proposals>> Search::open(const SearchKernel &Kernel) {
  SpaceInput Input;
  Input.Backend = Summary.Device.Backend;
  Input.Level = Kernel.Level;
  Input.Arch = Kernel.Arch;
  Input.Launches = Kernel.Launches;
  Input.Pipelines = Pipelines;
  Input.Seed = Options.Seed ^ contentDigest(Kernel.About.Key).Low;
  return Options.Space.Open(Input);
}

Expected<std::optional<Evaluation>>
Search::recall(const KernelProgress &Progress, const Candidate &Next) {
  return Log.find(Progress.Kernel->About.Key, Progress.Setting,
                  Next.Change.id().hex());
}

bool Search::mayGoOn() const {
  return !Stop && !isSpent() && Summary.State.SpentMs < UntilMs &&
         Summary.State.Evaluations < UntilEvaluations;
}

Expected<bool> Search::tryOne(KernelProgress &Progress, const Candidate &Next,
                              std::optional<double> *Cost) {
  chargeTime();
  if (!mayGoOn())
    return false;
  if (Error E = prepareKernel(Progress))
    return E;
  if (!Progress.Skipped.empty())
    return false;
  auto Made = evaluateOne(Progress, Next);
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
    ++Progress.Tried;
    ++Progress.Counts[Made.Result];
    bool Better = !Progress.Best || Made.Gain.Low > Progress.Best->Gain.Low;
    if (Made.Result == Outcome::Ok && Better)
      Progress.Best = Made;
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
