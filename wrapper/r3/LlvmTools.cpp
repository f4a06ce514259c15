// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/LlvmTools.h"

#include "runtime/support/Process.h"

#include <chrono>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3 {

/// Some pass sequences never end.
static constexpr std::chrono::seconds ToolDeadline(120);
static constexpr size_t LargestOutput = 256u << 20;

static bool hasTools(const fs::path &Folder) {
  return !access((Folder / "opt").c_str(), X_OK) &&
         !access((Folder / "FileCheck").c_str(), X_OK);
}

Expected<LlvmTools> LlvmTools::find(Context &Given) {
  LlvmTools Tools(Given);
  Tools.Plugin = installationPath("lib/libR3.so");
  if (access(Tools.Plugin.c_str(), R_OK) != 0)
    return fail(ErrorCode::CannotRunHere, "%s is missing",
                Tools.Plugin.c_str());
  const std::string Clang = Given.Variables.isSet("R3_CLANG")
                                ? Given.Variables.text("R3_CLANG")
                                : R3_CLANG;
  std::error_code Ignored;
  for (const fs::path &Folder :
       {fs::path(Clang).parent_path(),
        fs::canonical(Clang, Ignored).parent_path(), fs::path(R3_LLVM_TOOLS)})
    if (!Folder.empty() && hasTools(Folder)) {
      Tools.Folder = Folder.string();
      return Tools;
    }
  return fail(ErrorCode::CannotRunHere,
              "no opt and FileCheck in %s: install llvm-%s-tools, or name the "
              "clang++ beside them by R3_CLANG",
              R3_LLVM_TOOLS,
              std::string(R3_LLVM_VERSION)
                  .substr(0, std::string_view(R3_LLVM_VERSION).find('.'))
                  .c_str());
}

static std::string firstLine(const std::string &Text) {
  return Text.substr(0, Text.find('\n'));
}

Expected<std::string>
LlvmTools::optimise(const std::string &Module, const std::string &Passes,
                    const std::vector<std::string> &Options) {
  SpawnOptions Spawn;
  Spawn.Arguments = {Folder + "/opt", "-load-pass-plugin=" + Plugin};
  Spawn.Arguments.insert(Spawn.Arguments.end(), Options.begin(), Options.end());
  Spawn.Arguments.insert(Spawn.Arguments.end(),
                         {"-passes=" + Passes, "-S", "-o", "-"});
  Given->trace(Spawn.Arguments);
  auto Run = runProcess(Spawn, Module, ToolDeadline, LargestOutput);
  if (!Run)
    return Run.error().in("opt");
  if (Run->Status.TimedOut)
    return fail(ErrorCode::Timeout, "opt: the passes did not end within %d s",
                int(ToolDeadline.count()));
  if (!Run->Status.ok())
    return fail(ErrorCode::Failed, "opt: %s",
                Run->Err.empty()
                    ? format("ended with %d", Run->Status.Code).c_str()
                    : firstLine(Run->Err).c_str());
  return std::move(Run->Out);
}

Expected<bool> LlvmTools::check(const std::string &File,
                                const std::string &Prefix,
                                const std::vector<std::string> &Options,
                                const std::string &Input) {
  SpawnOptions Spawn;
  Spawn.Arguments = {Folder + "/FileCheck", File, "--check-prefix=" + Prefix};
  Spawn.Arguments.insert(Spawn.Arguments.end(), Options.begin(), Options.end());
  Given->trace(Spawn.Arguments);
  auto Run = runProcess(Spawn, Input, ToolDeadline);
  if (!Run)
    return Run.error().in("FileCheck");
  // 2: it could not do its work.
  if (Run->Status.Signal || Run->Status.TimedOut || Run->Status.Code > 1)
    return fail(ErrorCode::Failed, "FileCheck: %s",
                firstLine(Run->Err).c_str());
  return Run->Status.Code == 0;
}

} // namespace r3
