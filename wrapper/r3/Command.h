// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A subcommand of r3 and what it is given. The table of all of them is in
// Commands.cpp; main asks runCommandLine for the exit status and ends.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Options.h"
#include "runtime/support/Store.h"
#include "runtime/support/Worker.h"
#include "wrapper/r3/Config.h"
#include "wrapper/r3/Flags.h"
#include "wrapper/r3/Terminal.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct Catalogue;

/// What every subcommand gets.
struct Context {
  Environment Variables;
  Config Project;           // r3.toml of the root
  std::string Backend;      // "cuda" or "cpu"
  bool NamesDevice = false; // --device was given
  std::string Root;         // folder of r3.toml, else the working directory
  bool HasRoot = false;     // an r3.toml was found
  std::string StorePath;    // absolute
  bool Verbose = false;
  std::vector<std::string> Program; // what follows "--"
  Terminal Out{stdout};
  Terminal Err{stderr};

  /// "time", or "CPU time" where times are those of the CPU device.
  std::string timeWord() const;
  /// The store, which must be there (the error says what makes one).
  Expected<Store> openStore() const;
  /// What the store holds; damaged files are warned of.
  Catalogue readCatalogue(const Store &From);
  /// How a worker is started for this command; Launcher is split at blanks.
  WorkerOptions workerOptions(const std::string &Launcher) const;
  /// Unordered: "BUFFER=BYTES" each.
  Expected<WorkerOptions>
  workerOptions(const std::string &Launcher,
                const std::vector<std::string> &Unordered) const;
  /// Prints a command where --verbose asks for it.
  void trace(const std::vector<std::string> &Arguments);
  void warn(const std::string &Message);
};

class Command {
public:
  virtual ~Command() = default;
  virtual void declare(Flags &Options) = 0;
  /// The exit status, or the error that becomes it.
  virtual Expected<int> run(Context &Given) = 0;
};

struct CommandRow {
  const char *Name;
  const char *Summary;  // one line
  const char *Examples; // shown below the options
  bool TakesProgram;    // what follows "--" is a program
  bool UsesDevice;      // --device means something to it
  std::unique_ptr<Command> (*Make)();
};

std::span<const CommandRow> commandTable();

std::unique_ptr<Command> makeInit();
std::unique_ptr<Command> makeRecord();
std::unique_ptr<Command> makeList();
std::unique_ptr<Command> makeInspect();
std::unique_ptr<Command> makeReplay();
std::unique_ptr<Command> makeRemix();
std::unique_ptr<Command> makeStatus();
std::unique_ptr<Command> makeTry();
std::unique_ptr<Command> makeExplain();
std::unique_ptr<Command> makeApply();
std::unique_ptr<Command> makeMinimise();
std::unique_ptr<Command> makeBisect();
std::unique_ptr<Command> makeExportTest();
std::unique_ptr<Command> makeStore();
std::unique_ptr<Command> makeDoctor();
std::unique_ptr<Command> makeVersion();
std::unique_ptr<Command> makeCompletion();

/// Parses, runs, prints an error, and gives the exit status.
int runCommandLine(int Count, char **Arguments);

/// Words that may stand at the end of a command line, one a line, for the
/// shells (Line: the words after "r3", the last one may be unfinished).
std::vector<std::string> completeLine(const std::vector<std::string> &Line);

} // namespace r3
