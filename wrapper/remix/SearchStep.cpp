// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of the search: a worker that is there and has the kernel, one
// variant evaluated, a lost worker replaced.
#include "wrapper/remix/Search.h"

#include <algorithm>
#include <ctime>

namespace r3 {

namespace {

/// So many workers lost one after the other mean that it is not the variants.
constexpr unsigned LostLimit = 5;

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
    return W->evaluate(What);
  }
  Expected<MeasurementReport> measure(const MeasurementRequest &What) override {
    return W->measure(What);
  }
  Expected<RatesReport> rates() override { return W->rates(); }

private:
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
}

Error Search::prepareKernel(KernelProgress &Progress) {
  while (LostInARow < LostLimit) {
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

  auto Before = Log.evaluations({Kernel.About.Key, "", Progress.Setting, 0});
  if (!Before)
    return Before.error();
  Known.clear();
  for (const Evaluation &E : *Before)
    if (!E.Code.empty() && !E.SameAs)
      Known.push_back(E.Code);
  Loaded = Progress.Kernel;
  return Error::success();
}

Expected<EvaluationReport> Search::askWorker(KernelProgress &Progress,
                                             const Candidate &Next) {
  uint64_t Seed = Options.Seed ^ Next.Change.id().Low;
  auto Report =
      Worker->evaluate({Next.Change, Reproducing, Options.Pairs, Seed, Known});
  if (Report) {
    LostInARow = 0;
    return Report;
  }
  EvaluationReport Failed;
  Failed.Message = Report.error().message();
  Failed.Result = Outcome::Refused;
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
  auto First = Log.findCode(Made.Key, Made.Setting, Made.Code);
  if (!First)
    return First.error();
  if (!*First) {
    Known.push_back(Made.Code);
    return Error::success();
  }
  // The same binary: what the first evaluation found holds for this one too.
  Made.SameAs = (*First)->Id;
  Made.Result = Outcome::Duplicate;
  Made.Message =
      format("same binary as \"%s\", which was %s", (*First)->Note.c_str(),
             std::string(outcomeName((*First)->Result)).c_str());
  Made.Gain = (*First)->Gain;
  return Error::success();
}

Expected<std::optional<double>> Search::costOf(const Evaluation &Made) {
  Outcome Result = Made.Result;
  if (Result == Outcome::Duplicate) {
    auto First = Log.findCode(Made.Key, Made.Setting, Made.Code);
    if (!First)
      return First.error();
    Result = *First ? (*First)->Result : Outcome::Wrong;
  }
  if (Result != Outcome::Ok || !(Made.Gain.Median > 0))
    return std::optional<double>();
  return std::optional(1 / Made.Gain.Median);
}

} // namespace r3
