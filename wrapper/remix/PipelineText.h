// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass pipeline as text (the grammar of `opt -passes=`) taken apart into a
// tree, so that single passes can be deleted, repeated or inserted at places
// where their kind may stand:
//   list    := element ("," element)*
//   element := name [ "<" parameters ">" ] [ "(" list ")" ]
// No LLVM is needed: parameters are kept as they are written.
#pragma once

#include "runtime/support/Error.h"

#include <string>
#include <string_view>
#include <vector>

namespace r3 {

/// "licm" of "licm<allowspeculation>".
inline std::string_view passBase(std::string_view Name) {
  return Name.substr(0, Name.find('<'));
}

struct PassNode {
  std::string Name; // with parameters: "instcombine<no-verify-fixpoint>"
  bool IsManager = false;
  std::vector<PassNode> Children;

  bool operator==(const PassNode &) const = default;
  /// The name without parameters: a part of it.
  std::string_view base() const { return passBase(Name); }
};

/// The top level: passes over modules.
using Pipeline = std::vector<PassNode>;

Expected<Pipeline> parsePipeline(std::string_view Text);
std::string pipelineText(const Pipeline &P);

/// What a manager's children work on: "module", "cgscc", "function", "loop",
/// "loop-mssa". devirt<N> and coro-cond are looked through. Empty for a
/// manager that is not known.
std::string childKind(const PassNode &Manager, const std::string &Outer);

/// Whether a pass leaves code as it is, or clang needs it for other reasons:
/// it is not edited.
bool isInert(const PassNode &Pass);

/// One place of a pipeline: the list that holds it, and the index in it.
struct PassPlace {
  std::vector<size_t> Path; // indices of the managers from the top
  size_t Index = 0;
  std::string Kind; // of the list
};

/// Every pass that is no manager and does something to code.
std::vector<PassPlace> editablePasses(const Pipeline &P);
const PassNode &passAt(const Pipeline &P, const PassPlace &Where);

/// The pipeline with one edit. A manager that is left empty goes too.
Pipeline withoutPass(Pipeline P, const PassPlace &Where);
Pipeline withPassBefore(Pipeline P, const PassPlace &Where,
                        const std::string &Name);

} // namespace r3
