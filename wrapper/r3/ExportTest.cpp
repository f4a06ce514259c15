// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 export-test: a lit test of a variant's pass sequence. The kernel is
// optimised with the original's pipeline and with the variant's; what differs
// becomes lines for FileCheck, of which those are kept that hold for the
// variant and fail for the original.
#include "wrapper/r3/Command.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/LlvmTools.h"
#include "wrapper/r3/PassTest.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"

#include "runtime/support/Files.h"
#include "runtime/support/Json.h"
#include "runtime/support/StoreLock.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3 {

namespace {

/// More lines say nothing new to a person.
constexpr size_t MostProperties = 4;

/// "stencil3d<double>" as part of a file's name.
std::string fileName(const std::string &Display) {
  std::string Name;
  for (const char C : Display.substr(0, Display.find('(')))
    if (std::isalnum(static_cast<unsigned char>(C)) || C == '_')
      Name += C;
    else if (!Name.empty() && Name.back() != '-')
      Name += '-';
  while (!Name.empty() && Name.back() == '-')
    Name.pop_back();
  return Name.substr(0, 80);
}

class ExportTest : public Command {
public:
  void declare(Flags &Options) override {
    Options.text("KERNEL", Pattern, "",
                 "the kernel, by name, part of it or key");
    Options.text("--variant", VariantId, "ID",
                 "the beginning of a variant's id (default: what was accepted, "
                 "else the best)");
    Options.text("--passes", Passes, "PIPELINE",
                 "a pass pipeline of yours, as for opt -passes");
    Options.text("-o,--output", Folder, "DIR",
                 "where the test is written (default: .)");
    Options.flag("--json", Json, "print JSON");
  }

  Expected<int> run(Context &Given) override {
    if (Pattern.empty())
      return fail(ErrorCode::Usage,
                  "which kernel? r3 export-test KERNEL; `r3 list` has them");
    if (!Passes.empty() && !VariantId.empty())
      return fail(ErrorCode::Usage, "one of --variant and --passes");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    auto InUse = StoreLock::share(*From);
    if (!InUse)
      return InUse.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernel = Recorded.selectOne(Given.Backend, Pattern);
    if (!Kernel)
      return Kernel.error();
    if (Error E = choosePasses(Given, *From, **Kernel))
      return E;
    auto Tools = LlvmTools::find(Given);
    if (!Tools)
      return Tools.error();
    if (Error E = optimiseBoth(*From, **Kernel, *Tools))
      return E;
    if (Error E = keepWhatTells(*From, *Tools))
      return E;
    // From here on it is decided what is written.
    return write(Given, **Kernel, *Tools);
  }

private:
  /// From the journal, or as it was given.
  Error choosePasses(Context &Given, const Store &From,
                     const CatalogueKernel &K) {
    for (const CatalogueRecording &R : K.Recordings)
      if (R.Manifest.Module != Digest())
        Source = &R.Manifest;
    if (!Source)
      return fail(ErrorCode::Failed,
                  "%s: no recording, and so no device code of it",
                  K.Display.c_str());
    if (!Passes.empty()) {
      Id = contentDigest(Passes).hex();
      Note = "a sequence of passes by hand";
      Made.Change.Pipeline = Passes;
    } else {
      auto Chosen =
          chooseVariant(From.journalPath(), K.Key, Given.Backend, VariantId);
      if (!Chosen)
        return Chosen.error().in(K.Display);
      Made = std::move(*Chosen);
      Id = Made.Change.id().hex();
      Note = Made.Note;
    }
    const Variant &V = Made.Change;
    if (!V.Patch.empty() || !V.Ptx.empty())
      return fail(ErrorCode::Failed,
                  "%s: variant %s changes the source: a test of passes begins "
                  "with the recorded code",
                  K.Display.c_str(), Id.substr(0, 12).c_str());
    if (V.Pipeline.empty())
      return fail(ErrorCode::Failed,
                  "%s: variant %s (%s) has the original's passes: there is "
                  "nothing to test",
                  K.Display.c_str(), Id.substr(0, 12).c_str(), Note.c_str());
    return Error::success();
  }

  Error optimiseBoth(const Store &From, const CatalogueKernel &K,
                     LlvmTools &Tools) {
    const std::string Path = From.modulePath(Source->Module);
    auto Module = readFile(Path);
    if (!Module)
      return Module.error();
    auto Whole = Tools.optimise({Module->begin(), Module->end()},
                                "r3-closure<" + Source->Name + ">", {});
    if (!Whole)
      return Whole.error().in(K.Display);
    Test.Code = withoutPlace(*Whole);
    Test.Options = optOptions(Test.Code);
    Test.Passes = passesForOpt(Made.Change.Pipeline, Source->Level);
    auto Before = Tools.optimise(Test.Code, passesForOpt("", Source->Level),
                                 Test.Options);
    if (!Before)
      return Before.error().in("the original's passes");
    for (const auto &[Name, Value] : Made.Change.Options)
      Test.Options.push_back("-" + Name + "=" + std::to_string(Value));
    auto After = Tools.optimise(Test.Code, Test.Passes, Test.Options);
    if (!After)
      return After.error().in("the variant's passes");
    Original = std::move(*Before);
    Tuned = std::move(*After);
    return Error::success();
  }

  /// Those that FileCheck finds in the one and not in the other.
  Error keepWhatTells(const Store &From, LlvmTools &Tools) {
    auto Scratch = createPrivateFolder(From.temporaryDirectory() + "/export-");
    if (!Scratch)
      return Scratch.error();
    Error Failure = Error::success();
    for (IrProperty &P : differences(Original, Tuned)) {
      if (Test.Properties.size() == MostProperties ||
          (P.isWeak() && !Test.Properties.empty()))
        break;
      auto Tells = tells(*Scratch + "/check.ll", P, Tools);
      if (!Tells) {
        Failure = Tells.error();
        break;
      }
      if (*Tells)
        Test.Properties.push_back(std::move(P));
    }
    std::error_code Ignored;
    fs::remove_all(*Scratch, Ignored);
    if (Failure)
      return Failure;
    if (Test.Properties.empty())
      return fail(
          ErrorCode::Failed, "nothing is written: %s",
          withoutPlace(Original) == withoutPlace(Tuned)
              ? "on this kernel the passes make the same code as the original's"
              : "the code differs from the original's in nothing that a test "
                "could hold (numbers and order of instructions are the same)");
    return Error::success();
  }

  Expected<bool> tells(const std::string &File, const IrProperty &P,
                       LlvmTools &Tools) const {
    PassTest One;
    One.Properties = {P};
    if (Error E = writeFileAtomically(File, One.text()))
      return E;
    auto Holds = Tools.check(File, P.Prefix, checkOptions(P), Tuned);
    if (!Holds || !*Holds)
      return Holds;
    auto Before = Tools.check(File, P.Prefix, checkOptions(P), Original);
    return Before ? Expected<bool>(!*Before) : Before;
  }

  void describe(const Context &Given, const CatalogueKernel &K) {
    Test.Head.push_back(printable(K.Display) +
                        ": what its pass sequence is for; written by `r3 "
                        "export-test`.");
    std::string Origin = "variant " + Id.substr(0, 12) + ": " + printable(Note);
    if (Made.Gain.Median > 0)
      Origin += ", " +
                gainText(Made.Gain.Median, Made.Gain.Low, Made.Gain.High) +
                " in the search on " + printable(Made.Device) +
                (Given.Backend == "cpu" ? " (CPU time)" : "");
    Test.Head.push_back(Origin);
    Variant Rest = Made.Change;
    Rest.Pipeline.clear();
    Rest.Options.clear();
    if (!Rest.isOriginal())
      Test.Head.push_back("What else the variant changes is not part of the "
                          "test.");
    Test.Head.push_back("Each check fails with the original's pipeline, " +
                        passesForOpt("", Source->Level) + ".");
  }

  Expected<int> write(Context &Given, const CatalogueKernel &K,
                      LlvmTools &Tools) {
    describe(Given, K);
    if (Error E = createFolder(Folder))
      return E;
    const std::string Path =
        Folder + "/" + fileName(K.Display) + "-" + Id.substr(0, 8) + ".ll";
    if (Error E = writeFileAtomically(Path, Test.text()))
      return E;
    std::vector<std::string> Written = {Path};
    const std::string Config = Folder + "/lit.cfg.py";
    const bool HasConfig = !access(Config.c_str(), F_OK) ||
                           !access((Folder + "/lit.site.cfg.py").c_str(), F_OK);
    if (!HasConfig) {
      if (Error E = writeFileAtomically(
              Config, litConfig(Tools.folder(), Tools.plugin())))
        return E;
      Written.push_back(Config);
    }
    if (Json)
      printJson(Given, K, Written);
    else
      print(Given, Written);
    if (HasConfig && !definesPlugin(Config))
      Given.warn(Config +
                 " does not define %r3plugin: "
                 "config.substitutions.append((\"%r3plugin\", \"" +
                 Tools.plugin() + "\"))");
    return 0;
  }

  static bool definesPlugin(const std::string &Config) {
    auto Text = readTextFile(Config);
    return Text && Text->find("r3plugin") != std::string::npos;
  }

  void print(Context &Given, const std::vector<std::string> &Written) const {
    for (const std::string &Path : Written)
      Given.Out.print("written  " + Path + "\n");
    for (const IrProperty &P : Test.Properties)
      Given.Out.print(format("  %-10s ", P.Prefix.c_str()) + P.Meaning + "\n");
    Given.Out.print("next: lit-22 -v " + Folder + "\n");
  }

  void printJson(Context &Given, const CatalogueKernel &K,
                 const std::vector<std::string> &Written) const {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartObject();
    W.Key("key");
    W.String(K.Key);
    W.Key("name");
    W.String(K.Display);
    W.Key("variant");
    W.String(Id);
    W.Key("passes");
    W.String(Test.Passes);
    W.Key("written");
    W.StartArray();
    for (const std::string &Path : Written)
      W.String(Path);
    W.EndArray();
    W.Key("checks");
    W.StartArray();
    for (const IrProperty &P : Test.Properties) {
      W.StartObject();
      W.Key("prefix");
      W.String(P.Prefix);
      W.Key("meaning");
      W.String(P.Meaning);
      W.EndObject();
    }
    W.EndArray();
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  std::string Pattern, VariantId, Passes, Folder = ".";
  bool Json = false;
  const Recording *Source = nullptr;
  Evaluation Made; // of the variant; its times are 0 where passes were given
  std::string Id, Note;
  std::string Original, Tuned; // printed IR
  PassTest Test;
};

} // namespace

std::unique_ptr<Command> makeExportTest() {
  return std::make_unique<ExportTest>();
}

} // namespace r3
