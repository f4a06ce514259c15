// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text of PTX in parts, as they stand at its outermost level, so that one
// kernel can be taken out of it. What is inside of a part is not understood but
// for the names in it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace r3::replay {

struct PtxPart {
  /// Head: everything else, which holds for all (".target").
  enum Kind { Head, Entry, Function, Variable } What = Head;
  std::string Name; // none of a head
  std::string Text; // with comments and the line's end
};

/// In order; put together they are the text again.
std::vector<PtxPart> ptxParts(std::string_view Text);

/// The heads, the kernel of this name, and what it needs, directly or through
/// others. Names says which names are to be replaced by which.
std::string kernelAlone(const std::vector<PtxPart> &Parts,
                        const std::string &Kernel,
                        const std::map<std::string, std::string> &Names);

} // namespace r3::replay
