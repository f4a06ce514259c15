// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clang runs as a process with limits. Its working folder is the recorded one,
// so that relative paths of the command mean what they meant.
#include "wrapper/replay/FrontEnd.h"

#include "wrapper/replay/KernelCheck.h"

#include "runtime/support/Files.h"
#include "runtime/support/Json.h"
#include "runtime/support/Process.h"
#include "runtime/support/UnifiedDiff.h"
#include "runtime/support/Unit.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <sys/resource.h>

namespace fs = std::filesystem;

namespace r3::replay {

namespace {

// A patched unit may take so much longer than the unpatched one.
constexpr double SlowerFactor = 20;
constexpr uint64_t LeastCpuSeconds = 2, MostCpuSeconds = 20;
constexpr uint64_t MemoryBytes = 4ull << 30;

/// Options of the recorded command that go, by how many words they have.
unsigned wordsToDrop(const std::vector<std::string> &Command, size_t At) {
  const std::string &Word = Command[At];
  if (Word == "-S" || Word == "-emit-obj" || Word == "-emit-llvm" ||
      Word == "-emit-llvm-bc" || Word == "-MP" || Word == "-disable-free" ||
      Word == "-disable-llvm-verifier" || Word == "-clear-ast-before-backend" ||
      Word.starts_with("-fpass-plugin=") || Word.starts_with("-ferror-limit"))
    return Word == "-ferror-limit" ? 2 : 1;
  if (Word == "-o" || Word == "-dependency-file" || Word == "-MT" ||
      Word == "-load" || Word == "-fcuda-include-gpubinary")
    return 2;
  if (Word == "-mllvm" && At + 1 < Command.size() &&
      Command[At + 1].starts_with("-r3-"))
    return 2;
  return 0;
}

std::string yamlText(const std::string &Text) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.String(Text);
  return {Buffer.GetString(), Buffer.GetSize()};
}

/// Paths of a make rule, in the order in which they were opened.
std::vector<std::string> dependencies(const std::string &Rule,
                                      const std::string &Directory) {
  std::vector<std::string> Paths;
  std::string Word;
  auto Take = [&] {
    if (!Word.empty() && Word.back() != ':')
      Paths.push_back((fs::path(Directory) / Word).lexically_normal().string());
    Word.clear();
  };
  for (size_t I = 0; I < Rule.size(); ++I) {
    if (Rule[I] == '\\' && I + 1 < Rule.size()) {
      if (Rule[++I] != '\n')
        Word += Rule[I]; // an escaped blank
    } else if (Rule[I] == ' ' || Rule[I] == '\n') {
      Take();
    } else {
      Word += Rule[I];
    }
  }
  Take();
  return Paths;
}

/// The first error of clang's output, with the lines that show it.
std::string firstError(const std::string &Text, const std::string &Folder) {
  std::istringstream In(Text);
  std::string Result;
  for (std::string Line; std::getline(In, Line);) {
    const bool IsError = Line.find("error:") != std::string::npos;
    const bool Begins = IsError || Line.find("warning:") != std::string::npos ||
                        Line.find("generated.") != std::string::npos;
    if (!Result.empty() && Begins)
      break;
    if (IsError || !Result.empty())
      Result += (Result.empty() ? "" : "\n") + Line;
  }
  if (Result.empty())
    Result = Text.substr(0, Text.find('\n'));
  for (size_t At; (At = Result.find(Folder)) != std::string::npos;)
    Result.erase(At, Folder.size());
  return Result;
}

/// CPU time of the processes that have ended.
double secondsOfChildren() {
  rusage Used = {};
  getrusage(RUSAGE_CHILDREN, &Used);
  return double(Used.ru_utime.tv_sec + Used.ru_stime.tv_sec) +
         double(Used.ru_utime.tv_usec + Used.ru_stime.tv_usec) / 1e6;
}

/// What is known of a clang that a signal ended.
std::string crash(int Signal, const std::string &Text) {
  const size_t At = Text.find("LLVM ERROR: ");
  return format("clang was ended by signal %d (%s)", Signal,
                strsignal(Signal)) +
         (At == std::string::npos
              ? ""
              : ": " + Text.substr(At, Text.find('\n', At) - At));
}

/// Identifiers and directives of a text without comments and strings.
std::vector<std::string> wordsOf(const std::string &Text) {
  std::vector<std::string> Words;
  for (size_t I = 0; I < Text.size();) {
    const char C = Text[I];
    if (Text.compare(I, 2, "//") == 0) {
      I = std::min(Text.find('\n', I), Text.size());
    } else if (Text.compare(I, 2, "/*") == 0) {
      const size_t End = Text.find("*/", I + 2);
      I = End == std::string::npos ? Text.size() : End + 2;
    } else if (C == '"' || C == '\'') {
      for (++I; I < Text.size() && Text[I] != C && Text[I] != '\n'; ++I)
        I += Text[I] == '\\';
      ++I;
    } else if (isalpha(static_cast<unsigned char>(C)) || C == '_') {
      size_t End = I;
      while (
          End < Text.size() &&
          (isalnum(static_cast<unsigned char>(Text[End])) || Text[End] == '_'))
        ++End;
      Words.push_back(Text.substr(I, End - I));
      I = End;
    } else {
      if (C == '#')
        Words.push_back("#");
      ++I;
    }
  }
  return Words;
}

} // namespace

std::string forbiddenSpelling(const std::string &Added) {
  static const std::vector<std::string> Words = {
      "asm",           "__asm",        "__asm__",
      "__has_include", "__has_embed",  "__has_include_next",
      "clock",         "clock64",      "__clock64",
      "__globaltimer", "_Pragma",      "__TIME__",
      "__DATE__",      "__TIMESTAMP__"};
  const std::vector<std::string> Found = wordsOf(Added);
  for (size_t I = 0; I < Found.size(); ++I) {
    if (std::find(Words.begin(), Words.end(), Found[I]) != Words.end() ||
        Found[I].starts_with("__nvvm_read_ptx_sreg_clock") ||
        Found[I].starts_with("__nvvm_read_ptx_sreg_globaltimer"))
      return "the change spells '" + Found[I] + "'";
    if (I && Found[I - 1] == "#" &&
        (Found[I] == "embed" || Found[I] == "include_next" ||
         Found[I] == "import"))
      return "the change spells '#" + Found[I] + "'";
  }
  return {};
}

/// Patched files in a private folder, and the file that lays them over.
struct FrontEnd::Overlay {
  std::string Folder, Yaml;
  ~Overlay() {
    std::error_code Ignored;
    if (!Folder.empty())
      fs::remove_all(Folder, Ignored);
  }

  Error make(const std::vector<FileDiff> &Patch, const std::string &Root) {
    auto Made = createPrivateFolder(
        (fs::temp_directory_path() / "r3-source-").string());
    if (!Made)
      return Made.error();
    Folder = *Made;
    std::string Rows;
    for (size_t I = 0; I < Patch.size(); ++I) {
      const std::string Path =
          (fs::path(Root) / Patch[I].Path).lexically_normal().string();
      auto Old = readTextFile(Path);
      if (!Old)
        return Old.error();
      auto New = Patch[I].apply(*Old);
      if (!New)
        return New.error();
      const std::string Own = Folder + "/" + std::to_string(I);
      if (Error E = writeFileAtomically(Own, *New))
        return E;
      Rows += std::string(I ? ",\n" : "") +
              "{\"type\": \"file\", \"name\": " + yamlText(Path) +
              ", \"external-contents\": " + yamlText(Own) + "}";
    }
    Yaml = Folder + "/overlay.yaml";
    return writeFileAtomically(
        Yaml, "{\"version\": 0, \"use-external-names\": false, \"roots\": [\n" +
                  Rows + "]}\n");
  }
};

Expected<FrontEnd::Compiled>
FrontEnd::run(const Overlay *Over, uint64_t DeadlineMs, Outcome &Ending) {
  auto Folder = PrivateFolder::make("r3-front-");
  if (!Folder)
    return Folder.error();
  SpawnOptions O;
  for (size_t I = 0; I < Unit.Command.size();) {
    if (unsigned Drop = wordsToDrop(Unit.Command, I)) {
      I += Drop;
      continue;
    }
    O.Arguments.push_back(Unit.Command[I++]);
  }
  if (O.Arguments.size() < 3)
    return fail(ErrorCode::NotFound,
                "no compile command was recorded for this unit");
  // Before the input, which comes last with its language.
  const std::string Output = Folder->path() + "/out.bc",
                    Rule = Folder->path() + "/out.d";
  std::vector<std::string> More = {"-emit-llvm-bc",
                                   "-disable-llvm-passes",
                                   "-o",
                                   Output,
                                   "-dependency-file",
                                   Rule,
                                   "-MT",
                                   "out",
                                   "-sys-header-deps",
                                   "-debug-info-kind=line-tables-only",
                                   "-ftemplate-depth=256",
                                   "-ferror-limit",
                                   "1"};
  if (Over) {
    More.push_back("-ivfsoverlay");
    More.push_back(Over->Yaml);
  }
  O.Arguments.insert(O.Arguments.begin() + 2, More.begin(), More.end());
  const std::string Directory = compileDirectory(Unit.Command);
  O.Directory = Directory.empty() ? Unit.Root : Directory;
  O.Stdin = -2;
  O.DieWithParent = true;
  O.NewGroup = true;
  O.MemoryLimitBytes = MemoryBytes;
  O.CpuLimitSeconds = CpuSeconds;
  const double Before = secondsOfChildren();
  auto Run = runProcess(O, {}, std::chrono::milliseconds(DeadlineMs));
  if (!Run)
    return Run.error();
  if (Run->Status.TimedOut || Run->Status.Signal == SIGXCPU ||
      Run->Status.Signal == SIGKILL) {
    Ending = Outcome::BuildTimeout;
    return fail(ErrorCode::Timeout,
                "clang did not end within %llu s of CPU time and %llu ms",
                static_cast<unsigned long long>(CpuSeconds),
                static_cast<unsigned long long>(DeadlineMs));
  }
  const std::string Prefix = fs::path(O.Directory).string() + "/";
  if (Run->Status.Signal) {
    Ending = Outcome::BuildCrashed;
    return Error(ErrorCode::Failed, crash(Run->Status.Signal, Run->Err));
  }
  if (!Run->Status.ok())
    return Error(ErrorCode::Failed, firstError(Run->Err, Prefix));
  auto Bitcode = readFile(Output);
  if (!Bitcode)
    return Bitcode.error();
  auto Made = readTextFile(Rule);
  if (!Made)
    return Made.error();
  return Compiled{std::move(*Bitcode), dependencies(*Made, O.Directory),
                  secondsOfChildren() - Before};
}

FrontEndResult FrontEnd::checkUnit(const std::string &Kernel,
                                   uint64_t DeadlineMs) {
  if (!Opened.empty())
    return {};
  Outcome Ending = Outcome::BuildFailed;
  auto Plain = run(nullptr, DeadlineMs, Ending);
  if (!Plain)
    return {Outcome::BuildFailed,
            Plain.error().in("the unpatched unit").message(),
            {},
            {}};
  CpuSeconds = std::clamp(uint64_t(Plain->Seconds * SlowerFactor),
                          LeastCpuSeconds, MostCpuSeconds);
  if (std::string Why = changedSince(
          Unpatched, {Plain->Bitcode, Unit.Source, Unit.Level}, Kernel);
      !Why.empty())
    return {Outcome::Refused, Why, {}, {}};
  // From here on the unit on disk is the recorded one.
  Opened = std::move(Plain->Opened);
  std::sort(Opened.begin(), Opened.end());
  return {};
}

FrontEndResult FrontEnd::compile(const std::string &Patch,
                                 const std::string &Kernel,
                                 uint64_t DeadlineMs) {
  auto failed = [](Outcome Ending, const Error &E) {
    return FrontEndResult{Ending, E.message(), {}, {}};
  };
  auto Files = parseUnifiedDiff(Patch, "patch");
  if (!Files)
    return failed(Outcome::BuildFailed, Files.error());
  for (const FileDiff &F : *Files)
    if (std::string Why = forbiddenSpelling(F.added()); !Why.empty())
      return {Outcome::Refused, F.Path + ": " + Why, {}, {}};
  Overlay Over;
  if (Error E = Over.make(*Files, Unit.Root))
    return failed(Outcome::BuildFailed, E);
  if (auto Checked = checkUnit(Kernel, DeadlineMs);
      Checked.Ending != Outcome::Ok)
    return Checked;
  Outcome Ending = Outcome::BuildFailed;
  auto Made = run(&Over, DeadlineMs, Ending);
  if (!Made)
    return failed(Ending, Made.error());
  for (const std::string &Path : Made->Opened)
    if (!std::binary_search(Opened.begin(), Opened.end(), Path))
      return {Outcome::Refused,
              "the change opens " + Path + ", which the unit does not",
              {},
              {}};
  auto Checked =
      checkKernel(Unpatched, {Made->Bitcode, Unit.Source, Unit.Level}, Kernel);
  return {Checked.Ending, std::move(Checked.Message),
          std::move(Checked.Bitcode), std::move(Checked.LessPrecise)};
}

} // namespace r3::replay
