// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer expressions of launch maps, and guards. Grammar:
//   expr    := term (('+'|'-') term)*
//   term    := factor (('*'|'/'|'%') factor)*
//   factor  := integer | name | '-' factor | '(' expr ')'
//            | ('min'|'max'|'ceildiv') '(' expr ',' expr ')'
//   guard   := 'align(' name ',' integer ')' | 'divides(' integer ',' name ')'
//            | name '==' integer | 'distinct(' name ',' name ')'
// Names are grid.x, block.y, shared, or scalar parameters. Arithmetic is
// signed 64-bit; overflow and division by zero are errors.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace r3 {

/// Value of a name, or nothing where it is unknown.
using NameLookup = std::function<std::optional<int64_t>(std::string_view)>;

/// Evaluates Text; unknown names and syntax errors are errors.
Expected<int64_t> evaluateExpression(std::string_view Text,
                                     const NameLookup &Lookup);

/// Whether Text follows the grammar, whatever the names' values are.
Error checkExpression(std::string_view Text);

struct Guard {
  enum class Kind { Align, Divides, Equals, Distinct };
  Kind What = Kind::Equals;
  std::string Name;   // the parameter (Distinct: the first)
  std::string Second; // Distinct: the second
  int64_t Number = 0; // Align, Divides, Equals

  static Expected<Guard> parse(std::string_view Text);
  std::string text() const;
};

} // namespace r3
