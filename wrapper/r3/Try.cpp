// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 try: somebody's own edit of a recorded kernel, built with the recorded
// command, replayed on all recordings, compared and timed. The edit becomes a
// unified diff, which is what the worker takes.
#include "wrapper/r3/Command.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/EvidenceText.h"
#include "wrapper/remix/Gate.h"
#include "wrapper/trust/Ptx.h"

#include "runtime/support/BlockShape.h"
#include "runtime/support/Expression.h"
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

/// What came of one kernel.
struct Tried {
  const CatalogueKernel *Kernel = nullptr;
  GateReport Found;

  Outcome result() const { return Found.Result; }
  /// Of the recording that takes longest in the program; null: not timed.
  const RecordingGain *gain() const {
    return Found.Gains.empty() || Found.Gains[0].Judged.Ratio <= 0
               ? nullptr
               : &Found.Gains[0];
  }
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
    Options.text("--ptx", PtxFile, "FILE",
                 "PTX of one kernel, taken for its code (CUDA devices)");
    Options.text("--passes", Change.Pipeline, "PIPELINE",
                 "a pass pipeline, as for opt -passes");
    Options.count("--maxnreg", Registers, "at most so many registers");
    Options.texts("--launch", Rules, "TARGET=EXPRESSION",
                  "launch it otherwise: grid.x, .. block.z or shared by the "
                  "recorded launch, as in grid.x=ceildiv(grid.x,2)");
    Options.texts("--guard", Change.Guards, "GUARD",
                  "it is for launches in which this holds: align(p,16), "
                  "divides(4,n), n==100 or distinct(p,q)");
    Options.texts("--specialise", Constants, "NAME=VALUE",
                  "build it for one value of an integer parameter");
    Options.text("--remap", Shape, "SHAPE",
                 "launch it in blocks of another shape, as in split-x=4 or "
                 "merge-x=2;split-y=2; threads stay what they are");
    Options.text("--variant", VariantFile, "FILE",
                 "a variant as JSON, as r3 remix --json prints it; the other "
                 "options change it");
    Options.texts("-k,--kernel", Patterns, "KERNEL",
                  "only these kernels (default: all that the change reaches)");
    Options.count("--batches", Batches,
                  "timed batches of four launches on the recordings of each "
                  "argument class (default: 24; 0: not timed)");
    Options.number("--tolerance", CloseTo, 0, 0.5,
                   "floating-point results may differ by this, absolute plus "
                   "relative (default: by what rounding explains)");
    Options.texts("--without", Without, "CHECK",
                  "leave a check out, to see what it finds; the verdict is no "
                  "evidence then");
    Options.flag("--allow-precision", AllowPrecision,
                 "the change may compute less exactly; what it does is said");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.flag("--json", Json, "print JSON");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start the worker through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    if (Error E = readVariant())
      return E;
    if (Batches > MostBatches)
      return fail(ErrorCode::Usage, "--batches: at most %u", MostBatches);
    if (Registers)
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
    if (Error E = readTerms())
      return E;
    if (Change.isOriginal())
      return fail(ErrorCode::Usage,
                  "nothing to try: name an edited FILE, --patch, --ptx, "
                  "--passes, --maxnreg, --remap, --launch, --specialise or "
                  "--variant");
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
    if (!File.empty() + !PatchFile.empty() + !PtxFile.empty() > 1)
      return fail(ErrorCode::Usage, "one of FILE, --patch and --ptx");
    if (!PtxFile.empty())
      return readPtxFile();
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

  Error readPtxFile() {
    auto Text = readTextFile(PtxFile);
    if (!Text)
      return Text.error();
    for (const auto &[Name, Parameters] : trust::readPtx(*Text).Entries)
      Entries.insert(Name);
    if (Entries.empty())
      return fail(ErrorCode::Usage, "%s: no kernel (.entry) in this PTX",
                  PtxFile.c_str());
    Change.Ptx = std::move(*Text);
    return Error::success();
  }

  // --- Where and how it is launched.

  /// The two sides of "NAME=VALUE".
  static Expected<std::pair<std::string, std::string>>
  splitAt(const std::string &Text, const char *Option) {
    const size_t At = Text.find('=');
    if (At == std::string::npos || !At || At + 1 == Text.size())
      return fail(ErrorCode::Usage, "%s '%s': NAME=VALUE expected", Option,
                  Text.c_str());
    return std::pair(Text.substr(0, At), Text.substr(At + 1));
  }

  /// What was given beside it is put on top of it.
  Error readVariant() {
    if (VariantFile.empty())
      return Error::success();
    auto Text = readTextFile(VariantFile);
    if (!Text)
      return Text.error();
    auto Read = Variant::parse(*Text);
    if (!Read)
      return Read.error().in(VariantFile);
    if (!Change.Pipeline.empty())
      Read->Pipeline = Change.Pipeline;
    Read->Guards.insert(Read->Guards.end(), Change.Guards.begin(),
                        Change.Guards.end());
    Change = std::move(*Read);
    return Error::success();
  }

  Error readShape() {
    if (Shape.empty())
      return Error::success();
    if (!Change.Launch.empty())
      return fail(ErrorCode::Usage, "one of --remap and --launch");
    auto Parsed = BlockShape::parse(Shape);
    if (!Parsed)
      return Error(ErrorCode::Usage, "--remap: " + Parsed.error().message());
    Parsed->putInto(Change);
    return Error::success();
  }

  /// Reads --launch, --guard and --specialise as a variant's JSON would be.
  Error readTerms() {
    for (const std::string &Text : Rules) {
      auto Rule = splitAt(Text, "--launch");
      if (!Rule)
        return Rule.error();
      Change.Launch.push_back({Rule->first, Rule->second});
    }
    if (Error E = readShape())
      return E;
    for (const std::string &Text : Constants) {
      auto Constant = splitAt(Text, "--specialise");
      if (!Constant)
        return Constant.error();
      auto Value = evaluateExpression(
          Constant->second, [](std::string_view) { return std::nullopt; });
      if (!Value)
        return Error(ErrorCode::Usage,
                     "--specialise " + Value.error().message());
      Change.Specialise[Constant->first] = *Value;
    }
    auto Checked = Variant::parse(Change.canonicalJson());
    if (!Checked)
      return Error(ErrorCode::Usage, Checked.error().message());
    Change = std::move(*Checked);
    return Error::success();
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
    if (!Change.Ptx.empty())
      return Entries.count(K.Name);
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
    auto Known = Given.workerOptions(Launcher, Unordered);
    if (!Known)
      return Known.error();
    const WorkerOptions Options = std::move(*Known);
    Given.trace({"worker", Options.Backend, Options.StorePath});
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    GateOptions Gates;
    Gates.Batches = static_cast<unsigned>(Batches);
    Gates.CloseTo = CloseTo;
    for (const std::string &Name : Without) {
      auto Left = parseCheck(Name);
      if (!Left)
        return fail(ErrorCode::Usage, "--without: %s; there are %s",
                    Left.error().message().c_str(), checkNames().c_str());
      Gates.Checks.erase(*Left);
    }
    Gates.AllowPrecision = AllowPrecision;
    double Before = 0;
    for (const CatalogueKernel *K : Kernels) {
      const double Share = 1 / double(Kernels.size());
      if (mayReach(*K) && K->replayable()) {
        Gate Through(workerSource(Options), Gates, Signals.flag(),
                     [&](const std::string &Step, double Done) {
                       Line.update(K->Display + ": " + Step,
                                   Before + Share * Done);
                     });
        auto Found = Through.run(gateRecordings(*K), Change);
        if (!Found)
          return Found.error().in(K->Display);
        All.push_back({K, std::move(*Found)});
      }
      Before += Share;
    }
    if (All.empty())
      return fail(ErrorCode::Failed,
                  "no kernel with recordings is reached by this change");
    return Error::success();
  }

  static std::string checkNames() {
    std::string Names;
    for (Check Each : gateChecks())
      Names += (Names.empty() ? "" : ", ") + std::string(checkName(Each));
    return Names;
  }

  // --- Output.

  static bool isUntouched(const Tried &T) {
    return T.result() == Outcome::Duplicate;
  }

  /// The change reaches it, and makes no difference once it is built.
  static bool isSameCode(const Tried &T) {
    return isUntouched(T) && !T.Found.Variant.Code.empty();
  }

  std::string verdict(Context &Given, const Tried &T) const {
    if (T.result() == Outcome::Ok)
      return Given.Out.good("right");
    if (isUntouched(T))
      return "unchanged";
    return Given.Out.bad(std::string(outcomeName(T.result())));
  }

  /// "4", or "3 of 4" where guards do not hold in one.
  static std::string recordings(const Tried &T) {
    const size_t Kept = T.Found.Recordings.size(),
                 All = Kept + T.Found.Variant.Excluded.size();
    return (Kept < All ? std::to_string(Kept) + " of " : "") +
           std::to_string(All);
  }

  static std::string change(uint32_t Before, uint32_t After) {
    return Before == After
               ? std::to_string(After)
               : std::to_string(Before) + " -> " + std::to_string(After);
  }

  void print(Context &Given) {
    const bool Cpu = Given.Backend == "cpu";
    Given.Out.print("device " + All[0].Found.Device.Key +
                    (Cpu ? " (CPU time, not a GPU's)" : "") + "\n");
    Table Lines({"KERNEL", "RESULT", ">RECORDINGS", ">ORIGINAL", ">CHANGED",
                 ">GAIN", ">AT LEAST", ">REGISTERS", ">SHARED"});
    for (const Tried &T : All) {
      const RecordingGain *G = T.gain();
      const EvaluationReport &Before = T.Found.Original;
      const EvaluationReport &After = T.Found.Variant;
      const bool Built = !Cpu && After.Registers;
      Lines.add({shortened(printable(T.Kernel->Display), 48), verdict(Given, T),
                 recordings(T), G ? durationText(G->OriginalUs * 1e3) : "-",
                 G ? durationText(G->VariantUs * 1e3) : "-",
                 G ? format("%.3fx", G->Judged.Ratio) : "-",
                 G && G->Judged.AtLeast > 0 ? format("%.3fx", G->Judged.AtLeast)
                                            : "-",
                 Built ? change(Before.Registers, After.Registers) : "-",
                 Built ? change(Before.Shared, After.Shared) : "-"});
    }
    Given.Out.print(Lines.text());
    for (const Tried &T : All)
      printWords(Given, T);
  }

  /// What the table has no room for.
  void printWords(Context &Given, const Tried &T) {
    auto line = [&](const std::string &Text) {
      if (!Text.empty())
        Given.Out.print(printable(T.Kernel->Display) + ": " + printable(Text) +
                        "\n");
    };
    if (isSameCode(T))
      return line("its code is the original's");
    if (isUntouched(T))
      return;
    line(T.Found.Message);
    line(T.Found.Variant.Guards);
    line(T.Found.Variant.Tolerance);
    for (const CheckResult &C : T.Found.Variant.Checks)
      if (C.What == Check::Precision && AllowPrecision && C.Made)
        line(C.Message);
    for (const std::string &Text : T.Found.LeftOut)
      line("left out: " + Text);
    for (const RecordingGain &G : T.Found.Gains) {
      if (!G.Judged.Message.empty())
        line((G.Judged.Accepted ? "confirmed: " : "no gain is confirmed: ") +
             G.Judged.Message);
      if (G.FloorUs > 0)
        line(floorText(G.FloorUs, G.FloorBy, G.Floor));
      for (const std::string &Text : G.Warnings)
        line(Text);
    }
    std::string Made, Not;
    for (const CheckResult &C : T.Found.Variant.Checks)
      (C.Made ? Made : Not) += ((C.Made ? Made : Not).empty() ? "" : ", ") +
                               std::string(checkName(C.What)) +
                               (C.Made ? "" : " (" + C.Message + ")");
    if (T.result() == Outcome::Ok)
      line("checks: " + (Made.empty() ? "none" : Made) +
           (Not.empty() ? "" : "; not made: " + Not));
    for (const std::string &Class : T.Found.OnlyClasses)
      line("only for launches like " + Class);
    if (T.result() == Outcome::Ok && !T.Found.Weakness.empty())
      line("weak evidence: " + T.Found.Weakness);
  }

  void printJson(Context &Given) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("device");
    W.String(All[0].Found.Device.Key);
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
    W.StartObject();
    W.Key("key");
    W.String(T.Kernel->Key);
    W.Key("name");
    W.String(T.Kernel->Display);
    W.Key("outcome");
    W.String(std::string(outcomeName(T.result())));
    W.Key("message");
    W.String(isSameCode(T) ? "its code is the original's" : T.Found.Message);
    W.Key("guards");
    W.String(T.Found.Variant.Guards);
    W.Key("evidence");
    const std::string Evidence = evidenceJson(T.Found);
    W.RawValue(Evidence.data(), Evidence.size(), rapidjson::kObjectType);
    W.EndObject();
  }

  /// By more than noise; of too few batches the median decides.
  static bool isSlower(const Tried &T) {
    const RecordingGain *G = T.gain();
    return G && (G->AtMost ? *G->AtMost < 1 : G->Judged.Ratio < 1);
  }

  /// 0: right, and no kernel slower; the worst outcome decides.
  Expected<int> status() const {
    bool Slower = false, AnyChanged = false;
    for (const Tried &T : All) {
      if (isUntouched(T))
        continue;
      AnyChanged = true;
      switch (T.result()) {
      case Outcome::Ok:
        Slower |= isSlower(T);
        break;
      case Outcome::Wrong:
      case Outcome::OutOfBounds:
      case Outcome::IllegalAccess:
      case Outcome::NotVerifiable:
        return fail(ErrorCode::Wrong, "%s: %s", T.Kernel->Display.c_str(),
                    std::string(outcomeName(T.result())).c_str());
      default:
        return fail(ErrorCode::Failed, "%s: %s", T.Kernel->Display.c_str(),
                    std::string(outcomeName(T.result())).c_str());
      }
    }
    if (!AnyChanged)
      return fail(ErrorCode::Failed,
                  std::any_of(All.begin(), All.end(), isSameCode)
                      ? "the change makes no difference to the built code"
                      : "the change reaches no recorded kernel");
    return Slower ? 5 : 0;
  }

  std::string File, As, PatchFile, PtxFile, VariantFile, Shape, Launcher;
  std::vector<std::string> Patterns, Rules, Constants;
  std::vector<std::string> Without, Unordered;
  uint64_t Batches = 24, Registers = 0;
  double CloseTo = 0;
  bool Json = false, AllowPrecision = false;
  Variant Change;
  std::set<std::string> Touched; // files, from the root
  std::set<std::string> Entries; // kernels of the PTX
  std::vector<Tried> All;
};

} // namespace

std::unique_ptr<Command> makeTry() { return std::make_unique<Try>(); }

} // namespace r3
