// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Standard output and error: text, messages and progress. Colours only on a
// terminal, and never where NO_COLOR is set. Progress goes to stderr: on a
// terminal one line that is written again, elsewhere plain lines now and then.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace r3 {

class Terminal {
public:
  explicit Terminal(std::FILE *Stream);

  void print(const std::string &Text);
  bool isTerminal() const { return IsTerminal; }
  std::string bold(const std::string &Text) const { return colour("1", Text); }
  std::string good(const std::string &Text) const { return colour("32", Text); }
  std::string bad(const std::string &Text) const { return colour("31", Text); }
  std::string dim(const std::string &Text) const { return colour("2", Text); }
  /// Columns; 80 where it is no terminal.
  size_t columns() const;

private:
  std::string colour(const char *Code, const std::string &Text) const;
  std::FILE *Stream;
  bool IsTerminal;
  bool Colours;
};

/// What a command says while it works. Nothing for the first two seconds.
class Progress {
public:
  /// Quiet: say nothing.
  Progress(Terminal &Where, bool Quiet);
  ~Progress(); // clears the line

  /// Text for people, and how much is done (0..1); negative: unknown, no ETA.
  void update(const std::string &Text, double Done);
  /// Takes the line away, so that something else can be printed.
  void clear();

private:
  using Time = std::chrono::steady_clock::time_point;
  Terminal &Where;
  bool Quiet;
  bool Shown = false;
  Time Started;
  Time LastShown;
};

} // namespace r3
