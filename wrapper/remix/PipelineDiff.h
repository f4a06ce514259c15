// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes one pass pipeline of another: the fewest single edits (a pass
// deleted, inserted, or given other parameters), found by aligning the two
// trees list by list. Any of the edits can be made without the others: what
// comes out is well-nested, since each stays in the list of its own kind.
#pragma once

#include "wrapper/remix/PipelineText.h"

#include <string>
#include <vector>

namespace r3 {

class PipelineDiff {
public:
  PipelineDiff(const Pipeline &From, const Pipeline &To);

  /// For people, in the order of the pipeline: "delete licm in loop-mssa".
  const std::vector<std::string> &edits() const { return Texts; }
  /// From with those edits made that Wanted says, one flag an edit. A manager
  /// that is left empty goes too. All: To. None: From.
  Pipeline apply(const std::vector<bool> &Wanted) const;

private:
  /// A place of both pipelines. Edit: index of what makes the difference, -1
  /// where there is none.
  struct Step {
    std::string Before, After; // names; empty: not there
    int Edit = -1;
    bool IsManager = false;
    std::vector<Step> Children;
  };
  friend class PipelineAligner;
  static void emit(const std::vector<Step> &List,
                   const std::vector<bool> &Wanted, Pipeline &Into);
  void number(std::vector<Step> &List, const std::string &Kind);

  std::vector<Step> Steps;
  std::vector<std::string> Texts;
};

} // namespace r3
