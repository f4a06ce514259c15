// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command line of clang++ as far as clang-r3 has to understand it: its
// inputs with their languages, how far it goes, what it writes, and R3's own
// flags. Pure: reads response files through a function, nothing else.
#pragma once

#include "runtime/support/Error.h"

#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3::clangr3 {

/// How far the command goes.
enum class Action { Link, Compile, Preprocess, Dependencies, SyntaxOnly };

enum class Mode { Record, Use, Off };

struct Input {
  std::string Path;     // "-" for standard input
  std::string Language; // of -x; empty: by suffix, as clang does
  bool isCuda() const;
  /// Something that the linker gets as it is.
  bool isForLinker() const;
};

struct CommandLine {
  std::vector<std::string> Given; // as given, less R3's own flags
  std::vector<Input> Inputs;
  std::vector<std::string> LibraryFolders, Libraries;
  Action Goal = Action::Link;
  std::string Output;
  std::string CudaPath;
  /// Where dependencies go; more than one for several inputs. "-": standard
  /// output.
  std::vector<std::string> DependencyFiles;
  bool ShowsCommands = false; // -###
  bool KeepsTemporaries = false;
  bool NamesArchitecture = false;
  bool LinksOffload = false;
  bool WantsCudaIncludes = true;
  bool IsFrontend = false; // -cc1, another driver mode: not ours to touch
  /// Where an argument may be added at the end: before "--", where all that
  /// follows is an input. Nothing where "--" is inside a response file.
  size_t AddAt = 0;
  bool MayAddAtEnd = true;

  Mode How = Mode::Record;
  std::string Profile; // --r3-use
  bool DryRun = false, Strict = false, Help = false;
  bool SilenceAll = false;         // -Wno-r3
  std::set<std::string> Silenced;  // -Wno-r3-REASON

  /// Inputs that are compiled, and the CUDA ones of them.
  std::vector<const Input *> sources() const;
  std::vector<const Input *> cudaSources() const;
};

using FileReader =
    std::function<Expected<std::string>(const std::string &Path)>;

/// Arguments without the program's name. A wrong flag of R3's is an error; a
/// wrong argument of clang's is clang's to judge. A response file that cannot
/// be read is left to clang too.
Expected<CommandLine> parseCommandLine(std::span<const std::string> Arguments,
                                       const FileReader &Read);

/// Words of a response file, split as clang does on Unix.
std::vector<std::string> splitResponseFile(std::string_view Text);

} // namespace r3::clangr3
