// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of LLVM that a search may use: share/passes.toml, which
// share/passes.py makes from the installed LLVM.
//   llvm = "22.1"
//   [[pass]]
//   name = "licm"
//   kind = "loop"                  module, cgscc, function or loop
//   parameters = ["a", "no-a"]     as opt prints them; NAME=N takes a number
//   largest = ["guard=64"]         of an N that takes no more
//   needed = "O2"                  a parameter that is always written
//   lists = ["loop-mssa"]          where it may stand, or
//   unusable = "why"
//   idle = true                    changed no code where it was tried
// Parameters are numbers here: each pass has groups of parameters of which one
// can be given, and one integer says what is given of each (mixed radix).
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

/// Parameters of which at most one is given.
struct ParameterGroup {
  /// "licm<no-x>" and "licm<x>", or "max-iterations=1", "=2", "=4" and so on.
  std::vector<std::string> Values;
  bool IsNumber = false; // Values[I] is NAME=2^I
};

struct CatalogPass {
  std::string Name, Kind;
  std::string Needed;
  bool IsIdle = false;
  std::vector<std::string> Lists;
  std::vector<ParameterGroup> Groups;

  /// How many settings of its parameters there are: settings are 0 (none
  /// given) to this minus 1.
  int32_t settingCount() const;
  /// What Setting gives of a group: 0 nothing, else the value's place plus 1.
  size_t given(int32_t Setting, size_t Group) const;
  int32_t with(int32_t Setting, size_t Group, size_t Given) const;
  /// "licm<allowspeculation>".
  std::string text(int32_t Setting) const;
  /// The setting that a pass with this text has, if text can say it.
  std::optional<int32_t> settingOf(std::string_view Text) const;
  bool mayStandIn(std::string_view List) const;
};

struct PassCatalogue {
  std::string Llvm;                // version
  std::vector<CatalogPass> Usable; // by name
  size_t Unusable = 0;

  /// Name is used in messages.
  static Expected<PassCatalogue> parse(const std::string &Toml,
                                       const std::string &Name);
  /// share/r3/passes.toml of the prefix that this program is in.
  static Expected<PassCatalogue> readInstalled();

  /// The place in Usable; nothing for other names.
  std::optional<size_t> find(std::string_view Name) const;
};

} // namespace r3
