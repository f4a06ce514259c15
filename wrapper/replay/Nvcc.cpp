// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nvcc runs as a process in the recorded folder; all that it writes goes into a
// private one.
#include "wrapper/replay/Nvcc.h"

#include "wrapper/replay/Ptxas.h"

#include "runtime/support/Files.h"
#include "runtime/support/Options.h"
#include "runtime/support/Process.h"
#include "runtime/support/Unit.h"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3::replay {

namespace {

constexpr uint64_t MemoryBytes = 8ull << 30; // of each of its processes

/// An option of clang. With a value of its own, or joined to it.
struct Translation {
  std::string_view Clang;
  enum Way {
    Keep,   // nvcc has it, too
    Host,   // nvcc hands it to the preprocessor
    As,     // Nvcc
    Refuse, // nvcc has nothing like it, and it changes the program
  } How;
  std::string_view Nvcc = {};
};

/// Options that stand alone or begin so.
constexpr Translation Flags[] = {
    {"-std=", Translation::Keep},
    {"-ffast-math", Translation::As, "-use_fast_math"},
    {"-ffp-contract=off", Translation::As, "-fmad=false"},
    {"-fdenormal-fp-math-f32=preserve-sign", Translation::As, "-ftz=true"},
    {"-fgpu-rdc", Translation::Refuse},
    {"-fno-signed-char", Translation::Refuse},
    {"-fshort-enums", Translation::Refuse},
    {"-fpack-struct", Translation::Refuse},
    {"-ivfsoverlay", Translation::Refuse},
    {"-include-pch", Translation::Refuse},
};

/// Options with a value, which follows as a word or is joined to it.
constexpr Translation Valued[] = {
    {"-D", Translation::Keep},         {"-U", Translation::Keep},
    {"-I", Translation::Keep},         {"-isystem", Translation::Keep},
    {"-include", Translation::Keep},   {"-iquote", Translation::Host},
    {"-idirafter", Translation::Host}, {"-imacros", Translation::Host},
};

/// What clang itself, or R3, adds to a user's options.
bool isOwn(const std::string &Option, const std::string &Value) {
  return (Option == "-include" &&
          (Value == "__clang_cuda_runtime_wrapper.h" ||
           Value.find("r3.profile/units/") != std::string::npos)) ||
         (Option == "-D" && Value.starts_with("__CUDA_ARCH_LIST__="));
}

void addValued(const Translation &T, const std::string &Value,
               std::vector<std::string> &Into) {
  const std::string Option(T.Clang);
  if (isOwn(Option, Value))
    return;
  if (T.How == Translation::Keep)
    Into.insert(Into.end(), {Option, Value});
  else
    Into.insert(Into.end(), {"-Xcompiler", Option, "-Xcompiler", Value});
}

NvccResult failed(Outcome Ending, std::string Message) {
  return {Ending, std::move(Message), {}};
}

} // namespace

Expected<std::vector<std::string>>
nvccOptions(const std::vector<std::string> &Command) {
  std::vector<std::string> Result;
  for (size_t I = 0; I < Command.size(); ++I) {
    const std::string &Word = Command[I];
    if (Word == "-mllvm" || Word == "-Xclang" || Word == "-x") {
      ++I; // "-x cuda" and what is for clang alone
      continue;
    }
    // "-include-pch" is no "-include", "-isystem" no "-i".
    const auto *Flag = std::ranges::find_if(
        Flags, [&](const Translation &T) { return Word.starts_with(T.Clang); });
    if (Flag != std::end(Flags)) {
      if (Flag->How == Translation::Refuse)
        return fail(ErrorCode::Failed,
                    "the unit is compiled with %s, which nvcc is not given "
                    "an equal of",
                    Word.c_str());
      Result.emplace_back(Flag->How == Translation::Keep ? Word : Flag->Nvcc);
      continue;
    }
    const auto *With = std::ranges::find_if(Valued, [&](const Translation &T) {
      return T.Clang.size() == 2 ? Word.starts_with(T.Clang) : Word == T.Clang;
    });
    if (With == std::end(Valued))
      continue;
    if (Word.size() > With->Clang.size())
      addValued(*With, Word.substr(With->Clang.size()), Result);
    else if (++I < Command.size())
      addValued(*With, Command[I], Result);
  }
  return Result;
}

/// Beside a ptxas; empty where there is none.
static std::string findNvcc() {
  for (const std::string &Ptxas : allPtxas())
    if (std::string Nvcc = fs::path(Ptxas).replace_filename("nvcc");
        access(Nvcc.c_str(), X_OK) == 0)
      return Nvcc;
  return {};
}

/// nvcc's own variables (NVCC_APPEND_FLAGS) are not for a baseline.
static std::vector<std::string> environmentOf(const std::string &Folder) {
  std::vector<std::string> All = {"TMPDIR=" + Folder};
  for (const char *Name : {"PATH", "LD_LIBRARY_PATH", "HOME"})
    if (auto Value = systemVariable(Name))
      All.push_back(std::string(Name) + "=" + *Value);
  return All;
}

NvccResult runNvcc(const SourceUnit &Unit, const std::string &Arch,
                   uint64_t DeadlineMs) {
  if (Unit.Command.empty())
    return failed(Outcome::BuildFailed,
                  "no compile command was recorded for this unit");
  const std::string Program = findNvcc();
  if (Program.empty())
    return failed(Outcome::BuildFailed, "there is no nvcc beside ptxas");
  auto Options = nvccOptions(Unit.Command);
  if (!Options)
    return failed(Outcome::Refused, Options.error().message());
  auto Folder = PrivateFolder::make("r3-nvcc-");
  if (!Folder)
    return failed(Outcome::BuildFailed, Folder.error().message());
  const std::string Output = Folder->path() + "/out.ptx";
  SpawnOptions O;
  // Clang takes constexpr functions and lambdas in device code for granted.
  O.Arguments = {Program,           "-O3", "-ptx",
                 "-arch=" + Arch,   "-w",  "-expt-relaxed-constexpr",
                 "-extended-lambda"};
  O.Arguments.insert(O.Arguments.end(), Options->begin(), Options->end());
  const std::string Directory = compileDirectory(Unit.Command);
  O.Directory = Directory.empty() ? Unit.Root : Directory;
  O.Arguments.insert(O.Arguments.end(),
                     {"-o", Output, "-x", "cu", Unit.Command.back()});
  O.Environment = environmentOf(Folder->path());
  O.Stdin = -2;
  O.DieWithParent = true;
  O.NewGroup = true;
  O.MemoryLimitBytes = MemoryBytes;
  auto Run = runProcess(O, {}, std::chrono::milliseconds(DeadlineMs));
  if (!Run)
    return failed(Outcome::BuildFailed, Run.error().message());
  if (Run->Status.TimedOut)
    return failed(Outcome::BuildTimeout,
                  format("nvcc did not end within %llu ms",
                         static_cast<unsigned long long>(DeadlineMs)));
  if (!Run->Status.ok())
    return failed(Outcome::BuildFailed,
                  "nvcc: " + firstErrorLine(Run->Err + Run->Out));
  auto Text = readTextFile(Output);
  if (!Text)
    return failed(Outcome::BuildFailed, Text.error().message());
  return {Outcome::Ok, {}, std::move(*Text)};
}

} // namespace r3::replay
