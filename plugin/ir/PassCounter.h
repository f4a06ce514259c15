// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts how often a pipeline runs a pass on something, and stops running them
// from a number on, as LLVM's OptBisect does: passes that must run (managers,
// always-inline) are not counted and always run.
#pragma once

#include <cstdint>
#include <string>

namespace r3::ir {

struct PassCounter {
  uint64_t Limit = UINT64_MAX; // runs that are allowed
  uint64_t Runs = 0;           // that were asked for, those beyond included
  // The first one beyond: "licm", "loop %for.body in function k".
  std::string NextPass, NextPlace;
};

} // namespace r3::ir
