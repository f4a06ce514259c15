// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes one optimised form of a kernel another than a second one, as
// lines for FileCheck. Both are LLVM's printed IR; instructions are counted by
// what they are (loads and stores by type, calls by callee, others by opcode),
// and what says most to a person comes first: barriers, widths of vectors,
// loads and stores, loops, calls, branches and selects, arithmetic. Where the
// counts agree, the order of memory operations and calls is what differs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace r3 {

/// Something that holds in the one form and not in the other.
struct IrProperty {
  std::string Prefix;  // of its lines, unique among the properties: "STORES"
  std::string Meaning; // for people: "12 x store float, 24 before"
  /// "-COUNT-12: store float {{.*}}", without prefix.
  std::vector<std::string> Directives;
  /// Patterns that may occur only where a directive takes them.
  std::vector<std::string> Exclusive;

  /// Counts of instructions that say little to a person; they come last.
  bool isWeak() const { return Prefix.starts_with("CODE"); }
};

/// Properties of Tuned that Original has not, best first. Each is one run of
/// FileCheck. Empty: no difference that such lines could hold.
std::vector<IrProperty> differences(std::string_view Original,
                                    std::string_view Tuned);

} // namespace r3
