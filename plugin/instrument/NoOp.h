// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that returns at once: what no check of results may take for right.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

namespace r3::instrument {

/// M: the closure of a kernel, which keeps its signature and its attributes.
/// Fails where there is none.
Error returnAtOnce(llvm::Module &M);

} // namespace r3::instrument
