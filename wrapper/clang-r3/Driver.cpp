// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of one command, in order.
#include "wrapper/clang-r3/Driver.h"

#include "runtime/support/Files.h"
#include "runtime/support/Options.h"
#include "runtime/support/Process.h"
#include "runtime/support/Store.h"
#include "wrapper/clang-r3/Dependencies.h"
#include "wrapper/clang-r3/Plan.h"
#include "wrapper/clang-r3/Reporter.h"
#include "wrapper/clang-r3/Runner.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <unistd.h>

namespace fs = std::filesystem;

namespace r3::clangr3 {

namespace {

int complain(const Error &Problem) {
  fprintf(stderr, "clang-r3: error: %s\n", Problem.message().c_str());
  return exitCode(Problem.code());
}

// A misspelled variable must not stop a build: it is said, and the variables
// of this program are read all the same.
Expected<Environment> readEnvironment() {
  Expected<Environment> All = Environment::read();
  if (All)
    return All;
  fprintf(stderr, "clang-r3: warning: %s\n", All.error().message().c_str());
  std::vector<std::string> Ours;
  for (const std::string &Variable : inheritedEnvironment())
    if (Variable.starts_with("R3_CLANG=") || Variable.starts_with("R3_STORE="))
      Ours.push_back(Variable);
  return Environment::parse(Ours);
}

// $R3_CLANG, else the one that R3 was built with, else the one in PATH.
std::string findClang(const Environment &Settings) {
  if (Settings.isSet("R3_CLANG"))
    return Settings.text("R3_CLANG");
  if (!access(R3_CLANG_PATH, X_OK))
    return R3_CLANG_PATH;
  for (const char *Name : {"clang++-22", "clang++"}) {
    SpawnOptions Probe;
    Probe.Arguments = {Name, "--version"};
    if (Expected<RunResult> Result = runProcess(Probe);
        Result && Result->Status.ok())
      return Name;
  }
  return R3_CLANG_PATH; // starting it will say that it is missing
}

Places findPlaces(const Environment &Settings) {
  Places Where;
  Where.Clang = findClang(Settings);
  Where.SearchPath = systemVariable("PATH").value_or("");
  Where.StoreOverride = Settings.text("R3_STORE");
  std::string Plugin = installationPath("lib/libR3.so");
  if (!access(Plugin.c_str(), R_OK))
    Where.Plugin = Plugin;
  return Where;
}

// The store in which reasons are counted; empty outside a project.
std::string storeFor(const CommandLine &Line, const Places &Where) {
  if (!Where.StoreOverride.empty())
    return Where.StoreOverride;
  std::vector<const Input *> Sources = Line.sources();
  std::error_code Ignored;
  fs::path Folder = Sources.empty()
                        ? fs::current_path(Ignored)
                        : fs::absolute(Sources[0]->Path, Ignored).parent_path();
  if (!findRoot(Folder.string()))
    return {};
  return Store::pathFor(Folder.string(), {});
}

int help() {
  printf("clang-r3: clang++ with R3's plugin; takes every argument of clang++, "
         "and:\n");
  for (const OptionRow &Row : flagTable())
    printf("  %-14s %s%s%s%s\n", std::string(Row.Name).c_str(),
           std::string(Row.Help).c_str(),
           Row.Default.empty() || Row.Type == "boolean" ? "" : " (default: ",
           Row.Type == "boolean" ? "" : std::string(Row.Default).c_str(),
           Row.Default.empty() || Row.Type == "boolean" ? "" : ")");
  printf("Variables:\n");
  for (const OptionRow &Row : variableTable())
    if (Row.Reader.find("clang-r3") != std::string_view::npos)
      printf("  %-14s %s\n", std::string(Row.Name).c_str(),
             std::string(Row.Help).c_str());
  printf("Plugin: %s, build %s\n",
         installationPath("lib/libR3.so").c_str(), PluginBuildId);
  return 0;
}

// One word of a command as a shell would take it.
std::string quoteForShell(const std::string &Word) {
  const char *Plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                      "0123456789-_=+./,:@%^";
  if (!Word.empty() && Word.find_first_not_of(Plain) == std::string::npos)
    return Word;
  std::string Quoted = "'";
  for (char C : Word)
    Quoted += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Quoted + "'";
}

int printCommand(const std::vector<std::string> &Command) {
  for (size_t I = 0; I < Command.size(); ++I)
    printf("%s%s", I ? " " : "", quoteForShell(Command[I]).c_str());
  printf("\n");
  return 0;
}

bool readsStdin(const CommandLine &Line) {
  return std::any_of(Line.Inputs.begin(), Line.Inputs.end(),
                     [](const Input &I) { return I.Path == "-"; });
}

// The header must not make a build fail that deletes it.
Error finishDependencies(const CommandLine &Line, const Plan &Work) {
  for (const std::string &File : Line.DependencyFiles) {
    if (File != "-") {
      if (Error Problem = addPhonyRules(File, Work.Headers))
        return Problem;
      continue;
    }
    for (const std::string &Header : Work.Headers)
      printf("%s", phonyRule(Header).c_str());
    fflush(stdout);
  }
  return Error::success();
}

Expected<ExitStatus> execute(const CommandLine &Line, const Plan &Work,
                             Reporter &Report) {
  if (Work.UsesPlugin && !Line.ShowsCommands)
    return runWithPlugin(Work, readsStdin(Line), Line.Strict, Report);
  SpawnOptions Options;
  Options.Arguments = Work.Command;
  Options.DieWithParent = true;
  return runForwarding(Options);
}

} // namespace

int run(std::span<const std::string> Arguments) {
  // Understand the command.
  Expected<CommandLine> Line = parseCommandLine(
      Arguments,
      [](const std::string &Path) { return readTextFile(Path); });
  if (!Line)
    return complain(Line.error());
  if (Line->Help)
    return help();
  Expected<Environment> Settings = readEnvironment();
  if (!Settings)
    return complain(Settings.error());
  Places Where = findPlaces(*Settings);

  // Decide what clang gets. From here on the command no longer changes.
  Plan Work = makePlan(*Line, Where);
  if (Line->DryRun)
    return printCommand(Work.Command);
  Reporter Report(*Line, storeFor(*Line, Where));
  for (const Remark &R : Work.Remarks)
    Report.warn(R.Reason, R.Text);
  if (Work.LacksPlugin)
    Report.warn("plugin-missing", installationPath("lib/libR3.so") +
                                      " is missing; compiled without R3");
  if (Report.failed())
    return 1;

  // Nothing to do afterwards: clang takes this process over.
  bool WritesRules = !Work.Headers.empty() && !Line->DependencyFiles.empty();
  if ((!Work.UsesPlugin || Line->ShowsCommands) && !WritesRules)
    return complain(become(Work.Command));

  Expected<ExitStatus> Status = execute(*Line, Work, Report);
  if (!Status)
    return complain(Status.error());
  if (Status->ok() && !Line->ShowsCommands)
    if (Error Problem = finishDependencies(*Line, Work))
      return complain(Problem);
  return Status->ok() && Report.failed() ? 1 : endAs(*Status);
}

} // namespace r3::clangr3
