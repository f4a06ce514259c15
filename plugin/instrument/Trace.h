// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The traced build: every access to global memory is checked against the
// recorded memory and marked, to the byte, in bitmaps of what was read, what
// was written, and what was read before it was written; another one tells which
// words are read as what. Shared memory is checked against the block's
// variables, and a read of what the block has not written is noted. An access
// outside, or without the alignment that the code relies on, is noted and
// skipped, so that no device faults. TraceAbi.h says how the launching process
// hands over memory and bitmaps. Local and constant memory are not looked at.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace r3::instrument {

struct TraceInfo {
  std::vector<std::string> Sites;  // "file.cu:12 in f", by number of the site
  std::vector<std::string> Unseen; // accesses that cannot be traced
  std::vector<uint32_t> Numbers;   // see numberParameters
};

/// M: the closure of a kernel as device code, before code generation. Where
/// Unseen is not empty, the bitmaps are incomplete.
Expected<TraceInfo> addTrace(llvm::Module &M);

} // namespace r3::instrument
