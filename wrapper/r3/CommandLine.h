// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A parsed command line. Only CommandLine.cpp sees the library that parses.
#pragma once

#include "wrapper/r3/Command.h"

namespace r3 {

struct ParsedLine {
  std::string Device; // empty: not given
  bool Verbose = false;
  std::vector<std::string> Program; // what follows "--"
  std::string Help;                 // not empty: print it, nothing else
  const CommandRow *Row = nullptr;
  Command *Asked = nullptr; // owned by the parser
};

class Parser {
public:
  Parser();
  ~Parser();
  /// Arguments without the command's own name. Once for a parser.
  Expected<ParsedLine> parse(std::vector<std::string> Arguments);
  /// Long options of a subcommand.
  std::vector<std::string> optionNames(const std::string &Command) const;

private:
  std::string helpText() const;
  /// The first word that is no option must be a command.
  Error checkCommand(const std::vector<std::string> &Arguments) const;
  Error usageError(std::string Why) const;
  struct State;
  std::unique_ptr<State> S;
};

} // namespace r3
