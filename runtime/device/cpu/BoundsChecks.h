// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts a check in front of every access to memory that is not provably the
// thread's own variables. An access that may not happen ends the launch: what
// the kernel would do with another value proves nothing, and may never end.
#pragma once

#include "llvm/IR/Module.h"

namespace r3::cpu {

/// All defined functions have the context as first argument.
void addBoundsChecks(llvm::Module &M);

} // namespace r3::cpu
