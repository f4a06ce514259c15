// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is added stands between --start-no-unused-arguments and its end, so
// that clang does not complain about flags that a command (a link, say) does
// not need. It stands in front: what the user says later wins. Only the unit
// header has to come last of all includes.
#include "wrapper/clang-r3/Plan.h"

#include "runtime/support/Files.h"
#include "runtime/support/Profile.h"
#include "wrapper/clang-r3/OffloadScan.h"
#include "wrapper/clang-r3/Toolkit.h"

#include <algorithm>

namespace r3::clangr3 {

namespace {

using Words = std::vector<std::string>;

bool compiles(const CommandLine &Line) {
  return Line.Goal == Action::Compile || Line.Goal == Action::Link;
}

// What plain clang lacks with this toolkit.
void addRepairs(const CommandLine &Line, const Places &Where, Words &Front) {
  Toolkit Cuda = findToolkit(Line.CudaPath, Where.SearchPath);
  if (!Cuda.FoundByClang)
    Front.push_back("--cuda-path=" + Cuda.Path);
  Front.push_back("-Wno-unknown-cuda-version");
  // After all other folders: a program's own copy of Thrust comes first.
  if (Line.WantsCudaIncludes && !Cuda.cccl().empty())
    Front.insert(Front.end(), {"-idirafter", Cuda.cccl()});
  if (!Line.NamesArchitecture && !Cuda.lowestArchitecture().empty())
    Front.push_back("--cuda-gpu-arch=" + Cuda.lowestArchitecture());
}

bool linksOffloadCode(const CommandLine &Line) {
  if (Line.Goal != Action::Link || Line.LinksOffload)
    return false;
  for (const Input &I : Line.Inputs)
    if (I.isForLinker() && holdsOffloadCode(I.Path))
      return true;
  return std::any_of(Line.Libraries.begin(), Line.Libraries.end(),
                     [&](const std::string &Name) {
                       std::string Path =
                           findArchive(Name, Line.LibraryFolders);
                       return !Path.empty() && holdsOffloadCode(Path);
                     });
}

void addHeaders(const CommandLine &Line, const Places &Where, Plan &Result) {
  for (const Input *Source : Line.cudaSources()) {
    Expected<UnitHeader> Header =
        unitHeader(Source->Path, Line.Profile, Where.StoreOverride,
                   /*Create=*/!Line.DryRun && !Line.ShowsCommands);
    if (!Header) {
      Result.Remarks.push_back({"profile-unwritable", Header.error().message()});
      continue;
    }
    if (Header->InStore)
      Result.Remarks.push_back(
          {"profile-in-store", "the profile folder is read-only; the headers "
                               "of its units are kept in the store"});
    if (!Header->Path.empty())
      Result.Headers.push_back(Header->Path);
  }
}

bool hasEntries(const std::string &Header) {
  Expected<std::string> Text = readTextFile(Header);
  if (!Text)
    return false;
  Expected<std::vector<std::string>> Entries = parseUnitHeader(*Text, Header);
  return Entries && !Entries->empty();
}

// The plugin's options. clang hands -mllvm to every step of a command, so they
// cannot be given where one of them does not load the plugin, or where each
// unit would need its own.
void addPluginOptions(const CommandLine &Line, Plan &Result, Words &Front) {
  bool Possible =
      Line.cudaSources().size() == 1 && Line.sources().size() == 1 &&
      !Line.KeepsTemporaries;
  if (Possible && Line.How == Mode::Use)
    Front.insert(Front.end(), {"-mllvm", "-r3-mode=use"});
  if (Possible && !Result.Headers.empty())
    Front.insert(Front.end(),
                 {"-mllvm", "-r3-profile-header=" + Result.Headers[0]});
  if (!Possible && std::any_of(Result.Headers.begin(), Result.Headers.end(),
                               hasEntries))
    Result.Remarks.push_back(
        {"profile-not-applied",
         "the profile is not applied in a command with several sources, "
         "-save-temps or -fno-integrated-as"});
}

Words assemble(const CommandLine &Line, const Places &Where,
               const Words &Front, const Words &Back) {
  Words Command = {Where.Clang};
  auto addQuietly = [&](const Words &Added) {
    if (Added.empty())
      return;
    Command.push_back("--start-no-unused-arguments");
    Command.insert(Command.end(), Added.begin(), Added.end());
    Command.push_back("--end-no-unused-arguments");
  };
  addQuietly(Front);
  if (!Line.MayAddAtEnd)
    addQuietly(Back);
  Command.insert(Command.end(), Line.Given.begin(),
                 Line.Given.begin() + Line.AddAt);
  if (Line.MayAddAtEnd)
    addQuietly(Back);
  Command.insert(Command.end(), Line.Given.begin() + Line.AddAt,
                 Line.Given.end());
  return Command;
}

} // namespace

Plan makePlan(const CommandLine &Line, const Places &Where) {
  Plan Result;
  // clang -cc1 and other drivers are not ours to touch.
  if (Line.IsFrontend || Line.How == Mode::Off) {
    Result.Command = {Where.Clang};
    Result.Command.insert(Result.Command.end(), Line.Given.begin(),
                          Line.Given.end());
    Result.PlainCommand = Result.Command;
    return Result;
  }

  Words Front, Back;
  bool IsCuda = !Line.cudaSources().empty();
  if (IsCuda) {
    addRepairs(Line, Where, Front);
    addHeaders(Line, Where, Result);
  }
  if (linksOffloadCode(Line))
    Front.push_back("--offload-link");
  for (const std::string &Header : Result.Headers)
    Back.insert(Back.end(), {"-include", Header});
  Result.PlainCommand = assemble(Line, Where, Front, Back);

  // From here on only what the plugin needs is added.
  bool Wanted = compiles(Line) && !Line.sources().empty();
  Result.UsesPlugin = Wanted && !Where.Plugin.empty();
  Result.LacksPlugin = Wanted && Where.Plugin.empty();
  if (Result.UsesPlugin) {
    // A crash below the plugin is tried again without it: clang need not
    // write its report.
    Front.insert(Front.end(),
                 {"-fpass-plugin=" + Where.Plugin, "-fno-crash-diagnostics"});
    addPluginOptions(Line, Result, Front);
  }
  Result.Command = assemble(Line, Where, Front, Back);
  return Result;
}

} // namespace r3::clangr3
