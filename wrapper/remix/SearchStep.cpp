// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of the search: a worker that is there and has the kernel, one
// variant evaluated, a lost worker replaced.
#include "wrapper/remix/Search.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <thread>

namespace r3 {

namespace {

/// So many workers lost one after the other mean that it is not the variants.
constexpr unsigned LostLimit = 5;

constexpr std::chrono::milliseconds SignalGrace(100);

class WorkerEvaluator : public Evaluator {
public:
  explicit WorkerEvaluator(std::unique_ptr<r3::Worker> W) : W(std::move(W)) {}
  bool isLost() const override { return W->isLost(); }
  const DeviceIdentity &identity() const override { return W->identity(); }
  const std::map<std::string, std::string> &pipelines() const override {
    return W->pipelines();
  }
  Error load(const std::vector<std::string> &ManifestPaths) override {
    return W->load(ManifestPaths);
  }
  Expected<ReplayReport> prepare(size_t Recording,
                                 unsigned Repetitions) override {
    return W->prepare(Recording, Repetitions);
  }
  Expected<EvaluationReport> evaluate(const EvaluationRequest &What) override {
    return withGrace(W->evaluate(What));
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &What) override {
    return W->measure(What);
  }
  Expected<NvccReport> nvcc() override { return W->nvcc(); }
  Expected<RatesReport> rates() override { return W->rates(); }
  unsigned compilers() const override { return W->compilers(); }
  Error know(const std::vector<KnownBinary> &All) override {
    return W->know(All);
  }
  Error submit(const EvaluationRequest &What) override {
    return W->submit(What);
  }
  Expected<EvaluationReport> next() override { return withGrace(W->next()); }
  void drop() override { W->drop(); }

private:
  /// What ended a worker may have been sent to this process, too, a moment
  /// later.
  Expected<EvaluationReport>
  withGrace(Expected<EvaluationReport> Report) const {
    if (!Report && W->isLost())
      std::this_thread::sleep_for(SignalGrace);
    return Report;
  }

  std::unique_ptr<r3::Worker> W;
};

} // namespace

EvaluatorSource workerSource(const WorkerOptions &Options) {
  return [Options]() -> Expected<std::unique_ptr<Evaluator>> {
    auto W = r3::Worker::start(Options);
    if (!W)
      return W.error();
    return std::unique_ptr<Evaluator>(new WorkerEvaluator(std::move(*W)));
  };
}

Error Search::ensureWorker() {
  if (Worker)
    return Error::success();
  auto Started = Source();
  if (!Started)
    return Started.error().in("the worker did not start");
  Worker = std::move(*Started);
  Loaded = nullptr;
  // A worker that comes later may be on another device of the cluster: its
  // timings would not compare.
  if (Summary.Device.Backend.empty())
    Summary.Device = Worker->identity();
  else if (Worker->identity().Key != Summary.Device.Key)
    return fail(ErrorCode::Failed,
                "the new worker runs on %s, the search began on %s",
                Worker->identity().Key.c_str(), Summary.Device.Key.c_str());
  Pipelines = Worker->pipelines();
  return Error::success();
}

void Search::loseWorker(const Error &Why) {
  ++Summary.WorkersLost;
  ++LostInARow;
  Observer.warn("worker lost (" + Why.message() + "); a new one is started");
  Worker.reset();
  Loaded = nullptr;
  for (Proposed &Each : Out)
    Each.Sent = false;
}

/// One that is out twice is sent once: its second turn finds it in the journal.
Error Search::sendAhead(const KernelProgress &Progress) {
  std::set<std::string> Before;
  for (Proposed &Each : Out) {
    if (!mayGoOn(Before.size()))
      return Error::success();
    if (!Each.Sent && !Before.count(Each.Id)) {
      auto Known = recall(Progress, Each.Id);
      if (!Known)
        return Known.error();
      if (*Known)
        continue;
      // What it fails with, next() will find, too.
      if (Worker->submit(request(Progress, Each.Next)))
        return Error::success();
      Each.Sent = true;
    }
    Before.insert(Each.Id);
  }
  return Error::success();
}

/// What comes of them now the journal would not know: the kernel is loaded anew
/// before anything else is asked of the worker.
void Search::dropAhead() {
  if (Worker && std::any_of(Out.begin(), Out.end(),
                            [](const Proposed &P) { return P.Sent; })) {
    Worker->drop();
    Loaded = nullptr;
  }
  Out.clear();
}

Error Search::prepareKernel(KernelProgress &Progress) {
  while (!Stop && LostInARow < LostLimit) {
    if (Error E = ensureWorker())
      return E;
    if (Loaded == Progress.Kernel)
      return Error::success();
    Observer.preparing(*Progress.Kernel);
    Error E = replayOriginals(Progress);
    if (!E)
      return Error::success();
    if (!Worker->isLost()) {
      Progress.Skipped = E.message();
      return Error::success();
    }
    loseWorker(E);
  }
  if (Stop)
    return Error::success();
  Progress.Skipped = format("%u workers lost one after the other", LostInARow);
  LostInARow = 0;
  return Error::success();
}

Expected<std::vector<size_t>> replayOriginals(
    Evaluator &Worker, const SearchKernel &Kernel, unsigned Repetitions,
    const std::function<void(size_t, const std::string &)> &LeftOut) {
  std::vector<std::string> Paths;
  for (const SearchRecording &R : Kernel.Recordings)
    Paths.push_back(R.Path);
  if (Error E = Worker.load(Paths))
    return E;
  std::vector<size_t> Reproducing;
  std::string Why = "no recordings";
  for (size_t I = 0; I < Paths.size(); ++I) {
    auto Report = Worker.prepare(I, Repetitions);
    if (!Report)
      return Report.error();
    if (Report->Result == Outcome::Ok) {
      Reproducing.push_back(I);
      continue;
    }
    Why = std::string(outcomeName(Report->Result));
    Why += Report->Message.empty() ? "" : ": " + Report->Message;
    if (LeftOut)
      LeftOut(I, Why);
  }
  if (Reproducing.empty())
    return fail(ErrorCode::Failed, "no recording replays: %s", Why.c_str());
  return Reproducing;
}

Error Search::replayOriginals(KernelProgress &Progress) {
  const SearchKernel &Kernel = *Progress.Kernel;
  auto Replayed = r3::replayOriginals(
      *Worker, Kernel, Options.Repetitions,
      [&](size_t I, const std::string &Why) {
        Observer.warn(Kernel.About.Name + ": recording " +
                      Kernel.Recordings[I].About.Digest.substr(0, 12) +
                      " is left out: " + Why);
      });
  if (!Replayed)
    return Replayed.error();
  Reproducing = std::move(*Replayed);
  if (Error E = tellKnown(Progress))
    return E;
  Loaded = Progress.Kernel;
  return Error::success();
}

/// What the journal knows of binaries that were launched as the original is.
Error Search::tellKnown(const KernelProgress &Progress) {
  auto Before =
      Log.evaluations({Progress.Kernel->About.Key, "", Progress.Setting, 0});
  if (!Before)
    return Before.error();
  std::vector<KnownBinary> Known;
  for (const Evaluation &E : *Before)
    if (!E.Code.empty() && E.Change.Launch.empty())
      Known.push_back({E.Code, E.Ir, E.Ptx});
  return Worker->know(Known);
}

/// What is slower than the original cannot win, nor what is below the best's
/// lower quartile, by which that is chosen.
static double gainToBeat(const KernelProgress &Progress) {
  return std::max(1.0, Progress.Best ? Progress.Best->Gain.Low : 0);
}

EvaluationRequest Search::request(const KernelProgress &Progress,
                                  const Candidate &Next) const {
  EvaluationRequest What;
  What.Change = Next.Change;
  What.Recordings = Reproducing;
  What.Pairs = Options.Pairs;
  What.Seed = Options.Seed ^ Next.Change.id().Low;
  What.Once = true;
  if (!Next.Change.isOriginal())
    What.Beat = gainToBeat(Progress);
  return What;
}

Expected<EvaluationReport> Search::askWorker(KernelProgress &Progress,
                                             const Candidate &Next) {
  auto Report = Next.Change.isOriginal()
                    ? Worker->evaluate(request(Progress, Next))
                    : Worker->next();
  if (Report) {
    LostInARow = 0;
    return Report;
  }
  EvaluationReport Failed;
  Failed.Message = Report.error().message();
  Failed.Result = Outcome::Refused;
  // What ends a job is often sent to all of its processes: a worker that ends
  // by it says nothing of the variant.
  if (Worker->isLost() && Stop)
    return fail(ErrorCode::Interrupted, "interrupted");
  if (Worker->isLost()) {
    Failed.Result = Outcome::WorkerLost;
    loseWorker(Report.error().in(Progress.Kernel->About.Name));
  }
  return Failed;
}

Expected<Evaluation> Search::evaluateOne(KernelProgress &Progress,
                                         const Candidate &Next) {
  auto Report = askWorker(Progress, Next);
  if (!Report)
    return Report.error();
  Evaluation Made;
  Made.Session = Summary.State.Id;
  Made.Key = Progress.Kernel->About.Key;
  Made.Name = Progress.Kernel->About.Name;
  Made.Setting = Progress.Setting;
  Made.Backend = Summary.Device.Backend;
  Made.Device = Summary.Device.Key;
  Made.Tools = Summary.Device.Tools;
  Made.Change = Next.Change;
  Made.Origin = Next.Change.isOriginal() ? "original" : "passes";
  Made.Note = Next.Note;
  Made.Seed = Options.Seed ^ Next.Change.id().Low;
  Made.Result = Report->Result;
  Made.Message = Report->Message;
  Made.Code = Report->Code;
  Made.Ir = Report->Ir;
  Made.Ptx = Report->Ptx;
  Made.Registers = Report->Registers;
  Made.Shared = Report->Shared;
  Made.Spills = Report->Spills;
  Made.OriginalNs = std::move(Report->OriginalNs);
  Made.VariantNs = std::move(Report->VariantNs);
  Made.Ms = std::move(Report->Ms);
  Made.Gain = ratioSpread(Made.OriginalNs, Made.VariantNs);
  Made.FinishedAt = std::time(nullptr);
  if (Error E = answerDuplicate(Made))
    return E;
  return Made;
}

Error Search::answerDuplicate(Evaluation &Made) {
  if (Made.Code.empty())
    return Error::success();
  auto First = Log.findSame(Made);
  if (!First)
    return First.error();
  if (!*First)
    return Error::success();
  // The same binary: what the first evaluation found holds for this one too.
  Made.SameAs = (*First)->Id;
  Made.Result = Outcome::Duplicate;
  Made.Message =
      format("same binary as \"%s\", which was %s", (*First)->Note.c_str(),
             std::string(outcomeName((*First)->Result)).c_str());
  Made.Gain = (*First)->Gain;
  // Whether it ran once more depends on when the search was interrupted.
  Made.OriginalNs.clear();
  Made.VariantNs.clear();
  Made.Registers = (*First)->Registers;
  Made.Shared = (*First)->Shared;
  Made.Spills = (*First)->Spills;
  return Error::success();
}

Expected<std::optional<double>> Search::costOf(const Evaluation &Made) {
  Outcome Result = Made.Result;
  if (Result == Outcome::Duplicate) {
    auto First = Log.findSame(Made);
    if (!First)
      return First.error();
    Result = *First ? (*First)->Result : Outcome::Wrong;
  }
  if (Result != Outcome::Ok || !(Made.Gain.Median > 0))
    return std::optional<double>();
  return std::optional(1 / Made.Gain.Median);
}

} // namespace r3
