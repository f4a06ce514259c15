// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 replay: each recording is replayed as it was recorded, several times, by
// a worker, and the results are compared with what the program computed: bit
// for bit, or the spread by buffer. The time in the program stands beside the
// time in the replay.
#include "runtime/support/Json.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/Statistics.h"

namespace r3 {

namespace {

struct Replayed {
  const CatalogueKernel *Kernel;
  const CatalogueRecording *Recording;
  ReplayReport Report;
};

const char *typeName(ValueType Type) {
  static const char *const Names[] = {"bytes", "i8",   "i16", "i32", "i64",
                                      "f16",   "bf16", "f32", "f64", "pointer"};
  return Names[size_t(Type)];
}

void writeBuffer(json::PrettyWriter &W, const BufferSpread &B) {
  W.StartObject();
  W.Key("name");
  W.String(B.Name);
  W.Key("size");
  W.Uint64(B.Size);
  W.Key("type");
  W.String(typeName(B.Type));
  W.Key("changedBytes");
  W.Uint64(B.ChangedBytes);
  W.Key("maxDifference");
  W.Double(B.MaxDifference);
  W.Key("rms");
  W.Double(B.Rms);
  W.EndObject();
}

void writeReplayed(json::PrettyWriter &W, const Replayed &R) {
  W.StartObject();
  W.Key("key");
  W.String(R.Kernel->Key);
  W.Key("name");
  W.String(R.Kernel->Display);
  W.Key("recording");
  W.String(R.Recording->Id);
  W.Key("outcome");
  W.String(std::string(outcomeName(R.Report.Result)));
  W.Key("message");
  W.String(R.Report.Message);
  W.Key("bitExact");
  W.Bool(R.Report.BitExact);
  if (R.Report.Untraced.empty()) {
    W.Key("readBytes");
    W.Uint64(R.Report.ReadBytes);
    W.Key("writtenBytes");
    W.Uint64(R.Report.WrittenBytes);
    W.Key("poisonedBytes");
    W.Uint64(R.Report.PoisonedBytes);
  } else {
    W.Key("untraced");
    W.String(R.Report.Untraced);
  }
  W.Key("programNs");
  W.Double(R.Report.ProgramNs);
  W.Key("originalNs");
  W.StartArray();
  for (double Ns : R.Report.OriginalNs)
    W.Double(Ns);
  W.EndArray();
  W.Key("buffers");
  W.StartArray();
  for (const BufferSpread &B : R.Report.Buffers)
    writeBuffer(W, B);
  W.EndArray();
  W.Key("milliseconds"); // by step, over all replays
  W.StartObject();
  for (const auto &[Step, Ms] : R.Report.Ms) {
    W.Key(Step.c_str());
    W.Double(Ms);
  }
  W.EndObject();
  W.EndObject();
}

class Replay : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("KERNEL", Patterns, "",
                  "kernels by name, part of it or key (default: all)");
    Options.count("-n,--repetitions", Repetitions,
                  "replays of each recording (default: 8)");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.flag("--json", Json, "print JSON");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start the worker through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    if (!Repetitions || Repetitions > 100000)
      return fail(ErrorCode::Usage, "-n: 1 to 100000 replays");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernels = Recorded.select(Given.Backend, Patterns);
    if (!Kernels)
      return Kernels.error();
    if (Error E = replayAll(Given, *Kernels))
      return E;
    if (Json)
      printJson(Given);
    else
      print(Given);
    return status();
  }

private:
  Error replayAll(Context &Given,
                  const std::vector<const CatalogueKernel *> &Kernels) {
    size_t Total = 0, Done = 0;
    for (const CatalogueKernel *K : Kernels)
      Total += K->replayable();
    if (!Total)
      return fail(ErrorCode::Failed, "nothing can be replayed: %s",
                  Kernels[0]->state().c_str());
    auto Known = Given.workerOptions(Launcher, Unordered);
    if (!Known)
      return Known.error();
    const WorkerOptions Options = std::move(*Known);
    Given.trace({"worker", Options.Backend, Options.StorePath});
    Source = workerSource(Options);
    if (Error E = ensureWorker())
      return E;
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    for (const CatalogueKernel *K : Kernels) {
      if (!K->replayable()) {
        NotReplayable.push_back(K);
        continue;
      }
      if (Error E = replayKernel(*K, Signals.flag(), Line, Done, Total))
        return E;
    }
    Interrupted = Signals.flag();
    return Error::success();
  }

  Error ensureWorker() {
    if (Worker)
      return Error::success();
    auto Started = Source();
    if (!Started)
      return Started.error().in("the worker did not start");
    Worker = std::move(*Started);
    Device = Worker->identity();
    return Error::success();
  }

  Error replayKernel(const CatalogueKernel &K, const std::atomic<bool> &Stop,
                     Progress &Line, size_t &Done, size_t Total) {
    std::vector<const CatalogueRecording *> Wanted;
    for (const CatalogueRecording &R : K.Recordings)
      if (R.isReplayable())
        Wanted.push_back(&R);
    IsLoaded = false;
    for (size_t I = 0; I < Wanted.size() && !Stop; ++I) {
      Line.update("replaying " + K.Display, double(Done) / double(Total));
      if (Error E = ensureWorker())
        return E;
      Made.push_back({&K, Wanted[I], replayOne(Wanted, I)});
      ++Done;
    }
    return Error::success();
  }

  /// Loads all recordings of the kernel together, once; where that fails, each
  /// alone, so that one that is damaged leaves the others alone.
  ReplayReport replayOne(const std::vector<const CatalogueRecording *> &All,
                         size_t Index) {
    if (!IsLoaded) {
      std::vector<std::string> Paths;
      for (const CatalogueRecording *R : All)
        Paths.push_back(R->Path);
      Error Failure = Worker->load(Paths);
      if (Failure && Worker->isLost())
        return failed(Failure);
      IsLoaded = !Failure;
    }
    if (!IsLoaded)
      if (Error Failure = Worker->load({All[Index]->Path}))
        return failed(Failure);
    auto Report = Worker->prepare(IsLoaded ? Index : 0, unsigned(Repetitions));
    return Report ? *Report : failed(Report.error());
  }

  ReplayReport failed(const Error &Failure) {
    ReplayReport Report;
    Report.Message = Failure.message();
    Report.Result = Outcome::Refused;
    if (Worker->isLost()) {
      Report.Result = Outcome::WorkerLost;
      Worker.reset();
      IsLoaded = false;
    }
    return Report;
  }

  static std::string resultText(Context &Given, const ReplayReport &R) {
    if (R.Result != Outcome::Ok)
      return Given.Out.bad(std::string(outcomeName(R.Result)));
    return R.BitExact ? Given.Out.good("bit for bit") : "within its spread";
  }

  void print(Context &Given) {
    if (Given.Backend == "cpu")
      Given.Out.print("device cpu: times are CPU times, not a GPU's\n");
    std::string Time = Given.Backend == "cpu" ? "CPU TIME" : "TIME";
    Table Lines({"KERNEL", "RECORDING", "RESULT", ">" + Time + " IN PROGRAM",
                 ">IN REPLAY", ">QUARTILES"});
    for (const Replayed &M : Made) {
      const std::vector<double> &Ns = M.Report.OriginalNs;
      Lines.add(
          {shortened(printable(M.Kernel->Display), 48),
           M.Recording->Id.substr(0, 12), resultText(Given, M.Report),
           M.Report.ProgramNs > 0 ? durationText(M.Report.ProgramNs) : "-",
           Ns.empty() ? "-" : durationText(quantile(Ns, 0.5)),
           Ns.empty() ? "-"
                      : "[" + durationText(quantile(Ns, 0.25)) + ", " +
                            durationText(quantile(Ns, 0.75)) + "]"});
    }
    Given.Out.print(Lines.text());
    for (const Replayed &M : Made)
      printDetails(Given, M);
    for (const CatalogueKernel *K : NotReplayable)
      Given.Out.print(printable(K->Display) + ": " + K->state() + "\n");
    if (Interrupted)
      Given.warn("interrupted: the recordings that are not listed were not "
                 "replayed");
  }

  static void printDetails(Context &Given, const Replayed &M) {
    std::string Who =
        printable(M.Kernel->Display) + " " + M.Recording->Id.substr(0, 12);
    if (!M.Report.Message.empty())
      Given.Out.print(Who + ": " + printable(M.Report.Message) + "\n");
    if (!M.Report.Untraced.empty())
      Given.Out.print(Who + ": what it reads and writes is not known: " +
                      printable(M.Report.Untraced) + "\n");
    for (const BufferSpread &B : M.Report.Buffers)
      Given.Out.print(format(
          "%s: buffer %s: %s of %s differ, %s, largest difference %.3g, rms "
          "%.3g\n",
          Who.c_str(), printable(B.Name).c_str(),
          bytesText(B.ChangedBytes).c_str(), bytesText(B.Size).c_str(),
          typeName(B.Type), B.MaxDifference, B.Rms));
    if (M.Report.Result == Outcome::NotVerifiable ||
        M.Report.Result == Outcome::OutOfBounds ||
        M.Report.Result == Outcome::Wrong)
      Given.Out.print("next: record it with all of its memory: r3 record "
                      "--closure all -k '" +
                      printable(M.Kernel->Display) + "' -- PROGRAM\n");
  }

  void printJson(Context &Given) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("device");
    W.String(Device.Key);
    W.Key("backend");
    W.String(Device.Backend);
    W.Key("timeKind");
    W.String(Given.timeWord());
    W.Key("replays");
    W.StartArray();
    for (const Replayed &M : Made)
      writeReplayed(W, M);
    W.EndArray();
    W.Key("notReplayable");
    W.StartArray();
    for (const CatalogueKernel *K : NotReplayable) {
      W.StartObject();
      W.Key("key");
      W.String(K->Key);
      W.Key("name");
      W.String(K->Display);
      W.Key("reason");
      W.String(K->reason());
      W.EndObject();
    }
    W.EndArray();
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  Expected<int> status() const {
    size_t Differ = 0, Failed = 0;
    for (const Replayed &M : Made) {
      Outcome Result = M.Report.Result;
      bool Wrong = Result == Outcome::Wrong || Result == Outcome::OutOfBounds ||
                   Result == Outcome::NotVerifiable;
      Differ += Wrong;
      Failed += !Wrong && Result != Outcome::Ok;
    }
    if (Differ)
      return fail(ErrorCode::Wrong, "%s of %zu not reproduced",
                  plural(Differ, "recording").c_str(), Made.size());
    if (Failed)
      return fail(ErrorCode::Failed, "%s of %zu could not be replayed",
                  plural(Failed, "recording").c_str(), Made.size());
    if (Interrupted)
      return fail(ErrorCode::Interrupted, "interrupted");
    return 0;
  }

  std::vector<std::string> Patterns, Unordered;
  uint64_t Repetitions = 8;
  bool Json = false;
  std::string Launcher;

  EvaluatorSource Source;
  std::unique_ptr<Evaluator> Worker;
  bool IsLoaded = false; // the current kernel, with all its recordings
  DeviceIdentity Device;
  std::vector<Replayed> Made;
  std::vector<const CatalogueKernel *> NotReplayable;
  bool Interrupted = false;
};

} // namespace

std::unique_ptr<Command> makeReplay() { return std::make_unique<Replay>(); }

} // namespace r3
