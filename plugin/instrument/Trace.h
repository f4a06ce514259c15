// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The traced build: every access to global memory is checked against the
// recorded memory and marked, to the byte, in a bitmap of what was read and one
// of what was written. An access outside is noted and skipped, so that no
// device faults. TraceAbi.h says how the launching process hands over memory
// and bitmaps. Shared, local and constant memory are not looked at.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace r3::instrument {

struct TraceInfo {
  std::vector<std::string> Sites;  // "file.cu:12 in f", by number of the site
  std::vector<std::string> Unseen; // accesses that cannot be traced
};

/// M: the closure of a kernel as device code, before code generation. Where
/// Unseen is not empty, the bitmaps are incomplete.
Expected<TraceInfo> addTrace(llvm::Module &M);

} // namespace r3::instrument
