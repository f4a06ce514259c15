// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 try: somebody's own edit of a recorded kernel, built with the recorded
// command, replayed on all recordings, compared and timed. The edit becomes a
// unified diff, which is what the worker takes.
#include "wrapper/r3/Command.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/Statistics.h"
#include "wrapper/trust/MedianBound.h"

#include "runtime/support/Files.h"
#include "runtime/support/Json.h"
#include "runtime/support/Process.h"
#include "runtime/support/UnifiedDiff.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace fs = std::filesystem;

namespace r3 {

namespace {

/// One side's chance to be wrong (TRUST: one-sided 99.97 %).
constexpr double BoundError = 3e-4;

/// Original / variant for each batch of two pairs, which were launched in the
/// order A B B A (Timing.h says why batches and not pairs).
std::vector<double> batchRatios(const EvaluationReport &R) {
  std::vector<double> Ratios;
  for (size_t I = 0; I + 1 < R.OriginalNs.size() && I + 1 < R.VariantNs.size();
       I += 2)
    if (double Variant = R.VariantNs[I] + R.VariantNs[I + 1]; Variant > 0)
      Ratios.push_back((R.OriginalNs[I] + R.OriginalNs[I + 1]) / Variant);
  return Ratios;
}

/// What came of one kernel.
struct Tried {
  const CatalogueKernel *Kernel = nullptr;
  size_t Recordings = 0;
  EvaluationReport Report, Original;
  RatioSpread Gain;
  /// Bounds of the median ratio; nothing where there are too few batches.
  std::optional<double> AtLeast, AtMost;
  double OriginalNs = 0, VariantNs = 0;
};

class Try : public Command {
public:
  void declare(Flags &Options) override {
    Options.text("FILE", File, "",
                 "an edited copy of a unit's source or of a file it includes");
    Options.text("--as", As, "PATH",
                 "the file that FILE is a copy of (default: by its name)");
    Options.text("--patch", PatchFile, "FILE",
                 "a unified diff against the files of the project");
    Options.text("--passes", Change.Pipeline, "PIPELINE",
                 "a pass pipeline, as for opt -passes");
    Options.count("--maxnreg", Registers, "at most so many registers");
    Options.texts("-k,--kernel", Patterns, "KERNEL",
                  "only these kernels (default: all that the change reaches)");
    Options.count("--pairs", Pairs,
                  "timed pairs of launches on each recording (default: 24)");
    Options.flag("--json", Json, "print JSON");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start the worker through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    if (Pairs > 10000)
      return fail(ErrorCode::Usage, "--pairs: at most 10000");
    Pairs += Pairs % 2; // batches are of two
    Change.MaxRegisters = static_cast<uint32_t>(Registers);
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernels = Recorded.select(Given.Backend, Patterns);
    if (!Kernels)
      return Kernels.error();
    if (Error E = readChange(Given, *Kernels))
      return E;
    if (Change.isOriginal())
      return fail(ErrorCode::Usage,
                  "nothing to try: name an edited FILE, --patch, --passes or "
                  "--maxnreg");
    if (Error E = tryAll(Given, *Kernels))
      return E;
    if (Json)
      printJson(Given);
    else
      print(Given);
    return status();
  }

private:
  // --- From files to a patch.

  Error readChange(Context &Given,
                   const std::vector<const CatalogueKernel *> &Kernels) {
    if (!File.empty() && !PatchFile.empty())
      return fail(ErrorCode::Usage, "FILE or --patch, not both");
    if (!PatchFile.empty()) {
      auto Text = readTextFile(PatchFile);
      if (!Text)
        return Text.error();
      auto Parsed = parseUnifiedDiff(*Text, PatchFile);
      if (!Parsed)
        return Parsed.error();
      Change.Patch = std::move(*Text);
      for (const FileDiff &F : *Parsed)
        Touched.insert(F.Path);
      return Error::success();
    }
    if (File.empty())
      return Error::success();
    auto Target = findOriginal(Given, Kernels);
    if (!Target)
      return Target.error();
    Touched.insert(*Target);
    return makePatch(Given, *Target);
  }

  /// The path, from the root, of the file that FILE is a copy of.
  Expected<std::string>
  findOriginal(const Context &Given,
               const std::vector<const CatalogueKernel *> &Kernels) const {
    const fs::path Root(Given.Root);
    if (!As.empty()) {
      const std::string Path = fs::absolute(As).lexically_normal().string();
      const std::string Below = Given.Root + "/";
      return Path.starts_with(Below)
                 ? Expected<std::string>(Path.substr(Below.size()))
                 : fail(ErrorCode::Usage, "--as %s: not below the root %s",
                        As.c_str(), Given.Root.c_str());
    }
    const std::string Name = fs::path(File).filename().string();
    std::set<std::string> Found;
    for (const CatalogueKernel *K : Kernels)
      for (const CatalogueUnit &U : K->Units)
        if (fs::path(U.Source).filename() == Name)
          Found.insert(U.Source);
    if (Found.empty())
      searchBelow(Root, Name, Found);
    if (Found.size() == 1)
      return *Found.begin();
    if (Found.empty())
      return fail(ErrorCode::NotFound,
                  "%s: no file of the project has this name; say which one it "
                  "is a copy of with --as PATH",
                  File.c_str());
    std::string List;
    for (const std::string &Path : Found)
      List += (List.empty() ? "" : ", ") + Path;
    return fail(ErrorCode::Usage,
                "%s could be a copy of %s: say which with "
                "--as PATH",
                File.c_str(), List.c_str());
  }

  void searchBelow(const fs::path &Root, const std::string &Name,
                   std::set<std::string> &Found) const {
    std::error_code Ignored;
    const fs::path Edited = fs::weakly_canonical(File, Ignored);
    for (auto It = fs::recursive_directory_iterator(Root, Ignored);
         It != fs::recursive_directory_iterator(); It.increment(Ignored)) {
      const std::string Leaf = It->path().filename().string();
      if (It->is_directory(Ignored) && Leaf.starts_with("."))
        It.disable_recursion_pending();
      else if (Leaf == Name && It->is_regular_file(Ignored) &&
               fs::weakly_canonical(It->path(), Ignored) != Edited)
        Found.insert(It->path().lexically_relative(Root).string());
    }
  }

  Error makePatch(Context &Given, const std::string &Target) {
    const std::string Original = Given.Root + "/" + Target;
    SpawnOptions O;
    O.Arguments = {"diff",    "-u",          "--label", "a/" + Target,
                   "--label", "b/" + Target, Original,  File};
    Given.trace(O.Arguments);
    auto Run = runProcess(O);
    if (!Run)
      return Run.error().in("diff");
    if (Run->Status.Code == 0 && !Run->Status.Signal)
      return fail(ErrorCode::Usage, "%s is the same as %s", File.c_str(),
                  Original.c_str());
    if (Run->Status.Code != 1)
      return fail(ErrorCode::Failed, "diff: %s",
                  Run->Err.substr(0, Run->Err.find('\n')).c_str());
    Change.Patch = Run->Out;
    return Error::success();
  }

  // --- Evaluation.

  /// Whether a kernel may be another one after the change: a patched header
  /// may reach every unit, a patched source its own kernels.
  bool mayReach(const CatalogueKernel &K) const {
    if (Touched.empty())
      return true;
    std::set<std::string> Sources;
    for (const CatalogueUnit &U : K.Units)
      Sources.insert(U.Source);
    return std::any_of(
        Touched.begin(), Touched.end(), [&](const std::string &Path) {
          return Sources.count(Path) || fs::path(Path).extension() != ".cu";
        });
  }

  Error tryAll(Context &Given,
               const std::vector<const CatalogueKernel *> &Kernels) {
    WorkerOptions Options = Given.workerOptions(Launcher);
    Given.trace({"worker", Options.Backend, Options.StorePath});
    auto Started = Worker::start(Options);
    if (!Started)
      return Started.error().in("the worker did not start");
    Device = (*Started)->identity();
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    size_t Done = 0;
    for (const CatalogueKernel *K : Kernels) {
      Line.update("trying " + K->Display,
                  double(Done++) / double(Kernels.size()));
      if (Signals.flag())
        return fail(ErrorCode::Interrupted, "interrupted");
      if (!mayReach(*K) || !K->replayable())
        continue;
      auto Result = tryKernel(**Started, *K);
      if (!Result)
        return Result.error().in(K->Display);
      All.push_back(std::move(*Result));
    }
    if (All.empty())
      return fail(ErrorCode::Failed,
                  "no kernel with recordings is reached by this change");
    return Error::success();
  }

  Expected<Tried> tryKernel(Worker &W, const CatalogueKernel &K) {
    std::vector<std::string> Paths;
    for (const CatalogueRecording &R : K.Recordings)
      if (R.isReplayable())
        Paths.push_back(R.Path);
    if (Error E = W.load(Paths))
      return E;
    Tried Result;
    Result.Kernel = &K;
    std::vector<size_t> Usable;
    for (size_t I = 0; I < Paths.size(); ++I) {
      auto Report = W.prepare(I, /*Repetitions=*/3);
      if (!Report)
        return Report.error();
      if (Report->Result == Outcome::Ok)
        Usable.push_back(I);
      else if (Result.Report.Message.empty())
        Result.Report.Message = Report->Message;
    }
    Result.Report.Result = Outcome::NotVerifiable;
    if (Usable.empty())
      return Result;
    Result.Recordings = Usable.size();
    auto Original = W.evaluate({Variant(), {Usable[0]}});
    if (!Original)
      return Original.error();
    Result.Original = *Original;
    auto Report = W.evaluate({Change,
                              Usable,
                              unsigned(Pairs),
                              /*Seed=*/1,
                              {Original->Code},
                              Accept::Rounding});
    if (!Report)
      return Report.error();
    Result.Report = *Report;
    if (isSameCode(Result))
      Result.Report.Message = "its code is the original's";
    Result.Gain = ratioSpread(Report->OriginalNs, Report->VariantNs);
    const std::vector<double> Ratios = batchRatios(*Report);
    Result.AtLeast = trust::medianAtLeast(Ratios, BoundError);
    Result.AtMost = trust::medianAtMost(Ratios, BoundError);
    Result.OriginalNs = quantile(Report->OriginalNs, 0.5);
    Result.VariantNs = quantile(Report->VariantNs, 0.5);
    return Result;
  }

  // --- Output.

  static bool isUntouched(const Tried &T) {
    return T.Report.Result == Outcome::Duplicate;
  }

  /// The change reaches it, and makes no difference once it is built.
  static bool isSameCode(const Tried &T) {
    return isUntouched(T) && !T.Report.Code.empty();
  }

  std::string verdict(Context &Given, const Tried &T) const {
    if (T.Report.Result == Outcome::Ok)
      return Given.Out.good("right");
    if (isUntouched(T))
      return "unchanged";
    return Given.Out.bad(std::string(outcomeName(T.Report.Result)));
  }

  static std::string change(uint32_t Before, uint32_t After) {
    return Before == After
               ? std::to_string(After)
               : std::to_string(Before) + " -> " + std::to_string(After);
  }

  void print(Context &Given) {
    const bool Cpu = Given.Backend == "cpu";
    Given.Out.print("device " + Device.Key +
                    (Cpu ? " (CPU time, not a GPU's)" : "") +
                    "; gains are unconfirmed\n");
    Table Lines({"KERNEL", "RESULT", ">RECORDINGS", ">ORIGINAL", ">CHANGED",
                 ">GAIN", ">AT LEAST", ">REGISTERS", ">SHARED"});
    for (const Tried &T : All) {
      const bool Timed = T.Gain.Median > 0;
      Lines.add(
          {shortened(printable(T.Kernel->Display), 48), verdict(Given, T),
           std::to_string(T.Recordings),
           Timed ? durationText(T.OriginalNs) : "-",
           Timed ? durationText(T.VariantNs) : "-",
           Timed ? gainText(T.Gain.Median, T.Gain.Low, T.Gain.High) : "-",
           T.AtLeast ? format("%.3fx", *T.AtLeast) : "-",
           Cpu || !Timed ? "-"
                         : change(T.Original.Registers, T.Report.Registers),
           Cpu || !Timed ? "-" : change(T.Original.Shared, T.Report.Shared)});
    }
    Given.Out.print(Lines.text());
    for (const Tried &T : All)
      if (!T.Report.Tolerance.empty())
        Given.Out.print(printable(T.Kernel->Display) + ": " +
                        T.Report.Tolerance + "\n");
    for (const Tried &T : All)
      if (!T.Report.Message.empty() && (!isUntouched(T) || isSameCode(T)))
        Given.Out.print(printable(T.Kernel->Display) + ": " + T.Report.Message +
                        "\n");
  }

  void printJson(Context &Given) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("device");
    W.String(Device.Key);
    W.Key("timeKind");
    W.String(Given.timeWord());
    W.Key("kernels");
    W.StartArray();
    for (const Tried &T : All)
      writeTried(W, T);
    W.EndArray();
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  static void writeTried(json::PrettyWriter &W, const Tried &T) {
    auto number = [&](const char *Name, double Value) {
      W.Key(Name);
      W.Double(Value);
    };
    W.StartObject();
    W.Key("key");
    W.String(T.Kernel->Key);
    W.Key("name");
    W.String(T.Kernel->Display);
    W.Key("outcome");
    W.String(std::string(outcomeName(T.Report.Result)));
    W.Key("message");
    W.String(T.Report.Message);
    W.Key("tolerance");
    W.String(T.Report.Tolerance);
    W.Key("recordings");
    W.Uint64(T.Recordings);
    number("originalNs", T.OriginalNs);
    number("variantNs", T.VariantNs);
    number("gain", T.Gain.Median);
    number("gainLow", T.Gain.Low);
    number("gainHigh", T.Gain.High);
    number("gainAtLeast", T.AtLeast.value_or(0));
    number("gainAtMost", T.AtMost.value_or(0));
    W.Key("registers");
    W.Uint(T.Report.Registers);
    W.Key("shared");
    W.Uint(T.Report.Shared);
    W.EndObject();
  }

  /// By more than noise; of too few batches the median decides.
  static bool isSlower(const Tried &T) {
    return T.AtMost ? *T.AtMost < 1 : T.Gain.Median > 0 && T.Gain.Median < 1;
  }

  /// 0: right, and no kernel slower; the worst outcome decides.
  Expected<int> status() const {
    bool Slower = false, AnyChanged = false;
    for (const Tried &T : All) {
      if (isUntouched(T))
        continue;
      AnyChanged = true;
      switch (T.Report.Result) {
      case Outcome::Ok:
        Slower |= isSlower(T);
        break;
      case Outcome::Wrong:
      case Outcome::OutOfBounds:
      case Outcome::IllegalAccess:
      case Outcome::NotVerifiable:
        return fail(ErrorCode::Wrong, "%s: %s", T.Kernel->Display.c_str(),
                    std::string(outcomeName(T.Report.Result)).c_str());
      default:
        return fail(ErrorCode::Failed, "%s: %s", T.Kernel->Display.c_str(),
                    std::string(outcomeName(T.Report.Result)).c_str());
      }
    }
    if (!AnyChanged)
      return fail(ErrorCode::Failed,
                  std::any_of(All.begin(), All.end(), isSameCode)
                      ? "the change makes no difference to the built code"
                      : "the change reaches no recorded kernel");
    return Slower ? 5 : 0;
  }

  std::string File, As, PatchFile, Launcher;
  std::vector<std::string> Patterns;
  uint64_t Pairs = 24, Registers = 0;
  bool Json = false;
  Variant Change;
  std::set<std::string> Touched; // files, from the root
  DeviceIdentity Device;
  std::vector<Tried> All;
};

} // namespace

std::unique_ptr<Command> makeTry() { return std::make_unique<Try>(); }

} // namespace r3
