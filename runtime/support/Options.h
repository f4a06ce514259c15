// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options table (Options.def) as data, and the environment parsed once
// into a constant object. getenv occurs in Options.cpp alone. A malformed
// value, or an unknown R3_ variable, is an error that names the nearest known
// one.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct OptionRow {
  std::string_view Name, Type, Default, Reader, Help;
};

std::span<const OptionRow> variableTable();
std::span<const OptionRow> flagTable();

/// Values of all R3_ variables, checked against their types.
class Environment {
public:
  /// From the process's environment.
  static Expected<Environment> read();
  /// From given "NAME=value" strings (tests).
  static Expected<Environment> parse(std::span<const std::string> Strings);

  /// The value or the default. Name must be in the table and have that type.
  const std::string &text(std::string_view Name) const;
  uint64_t number(std::string_view Name) const; // count size milliseconds
  bool flag(std::string_view Name) const;
  std::vector<std::string> names(std::string_view Name) const;
  bool isSet(std::string_view Name) const;

private:
  struct Setting {
    std::string Text;
    uint64_t Number = 0;
    bool Set = false;
  };
  std::vector<Setting> Settings; // one a row
  size_t index(std::string_view Name) const;
};

/// The value of a variable that is not R3's (NO_COLOR, TERM, SHELL); nothing
/// where it is not set.
std::optional<std::string> systemVariable(const std::string &Name);
/// The process's whole environment as "NAME=value", for a child that gets it
/// with changes.
std::vector<std::string> inheritedEnvironment();

/// "8GB", "512M", "4096" -> bytes; powers of 1024.
Expected<uint64_t> parseSize(std::string_view Text);
/// "90", "90s", "20m", "2h", "150ms" -> milliseconds (bare numbers: seconds).
Expected<uint64_t> parseDuration(std::string_view Text);
/// The nearest of Candidates by edit distance; empty where none is near.
std::string nearestName(std::string_view Name,
                        std::span<const std::string_view> Candidates);

} // namespace r3
