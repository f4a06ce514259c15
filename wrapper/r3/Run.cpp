// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the command line to the exit status: environment, root and store, the
// subcommand, and the one place where an error is printed.
#include "wrapper/r3/Command.h"

#include "runtime/support/Files.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/CommandLine.h"

#include <cctype>
#include <cstdlib>
#include <filesystem>

namespace r3 {

std::string Context::timeWord() const {
  return Backend == "cpu" ? "CPU time" : "time";
}

Expected<Store> Context::openStore() const {
  auto Opened = Store::open(StorePath, /*Create=*/false);
  if (!Opened)
    return fail(Opened.error().code(),
                "%s; `r3 record -- PROGRAM` makes one, or R3_STORE names one",
                Opened.error().message().c_str());
  return Opened;
}

Catalogue Context::readCatalogue(const Store &From) {
  Catalogue All = Catalogue::read(From);
  for (const std::string &Message : All.Damaged)
    warn(Message);
  return All;
}

WorkerOptions Context::workerOptions(const std::string &Launcher) const {
  WorkerOptions Options;
  Options.Backend = Backend;
  Options.StorePath = StorePath;
  for (size_t At = 0; At < Launcher.size();) {
    size_t End = std::min(Launcher.find(' ', At), Launcher.size());
    if (End > At)
      Options.Launcher.push_back(Launcher.substr(At, End - At));
    At = End + 1;
  }
  return Options;
}

Expected<WorkerOptions>
Context::workerOptions(const std::string &Launcher,
                       const std::vector<std::string> &Unordered) const {
  WorkerOptions Options = workerOptions(Launcher);
  for (const std::string &Text : Unordered) {
    const size_t At = Text.rfind('=');
    const char *Begin = Text.c_str() + (At == Text.npos ? Text.size() : At + 1);
    char *End = nullptr;
    const uint64_t Size = std::strtoull(Begin, &End, 10);
    if (At == Text.npos || !At || !std::isdigit(*Begin) || *End || !Size)
      return fail(ErrorCode::Usage,
                  "--unordered '%s': BUFFER=BYTES expected, as in arg1=8",
                  Text.c_str());
    Options.Unordered[Text.substr(0, At)] = Size;
  }
  return Options;
}

void Context::trace(const std::vector<std::string> &Arguments) {
  if (!Verbose)
    return;
  std::string Line = "+";
  for (const std::string &Argument : Arguments)
    Line += " " + Argument;
  Err.print(Line + "\n");
}

void Context::warn(const std::string &Message) {
  Err.print("r3: warning: " + Message + "\n");
}

namespace {

Error readProject(Context &Given) {
  std::string Path = Given.Root + "/r3.toml";
  auto Text = readTextFile(Path);
  if (!Text)
    return Text.error();
  auto Project = Config::parse(*Text, Path);
  if (!Project)
    return Project.error();
  Given.Project = *Project;
  return Error::success();
}

Expected<int> runParsed(const ParsedLine &Line, Context &Given) {
  auto Variables = Environment::read();
  if (!Variables)
    return Variables.error();
  Given.Variables = *Variables;
  Given.Verbose = Line.Verbose;
  Given.Program = Line.Program;
  Given.NamesDevice = !Line.Device.empty();
  Given.Backend =
      Line.Device.empty() ? Given.Variables.text("R3_DEVICE") : Line.Device;
  if (Given.Backend != "cuda" && Given.Backend != "cpu")
    return fail(ErrorCode::Usage, "R3_DEVICE: no device '%s': cuda or cpu",
                Given.Backend.c_str());
  std::error_code Failure;
  std::string Here = std::filesystem::current_path(Failure).string();
  if (Failure)
    return fail(ErrorCode::Failed, "the working directory is gone: %s",
                Failure.message().c_str());
  auto Root = findRoot(Here);
  Given.HasRoot = bool(Root);
  Given.Root = Root ? *Root : Here;
  if (Given.HasRoot)
    if (Error E = readProject(Given))
      return E;
  Given.StorePath = Store::pathFor(Here, Given.Variables.text("R3_STORE"));
  return Line.Asked->run(Given);
}

} // namespace

int runCommandLine(int Count, char **Arguments) {
  std::vector<std::string> Words(Arguments + 1, Arguments + Count);
  Context Given;
  if (!Words.empty() && Words[0] == "complete") {
    for (const std::string &Word :
         completeLine({Words.begin() + 1, Words.end()}))
      Given.Out.print(Word + "\n");
    return 0;
  }
  Parser Line;
  auto Parsed = Line.parse(std::move(Words));
  if (Parsed && !Parsed->Help.empty()) {
    Given.Out.print(Parsed->Help);
    return 0;
  }
  Expected<int> Status =
      Parsed ? runParsed(*Parsed, Given) : Expected<int>(Parsed.error());
  if (Status)
    return *Status;
  Given.Err.print(Given.Err.bad("r3: error: ") + Status.error().message() +
                  "\n");
  return exitCode(Status.error().code());
}

} // namespace r3
