// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel stores through its pointer parameters.
#pragma once

#include "runtime/support/Unit.h"

#include "llvm/IR/Function.h"

namespace r3::plugin {

/// Element types of the stores through each pointer field of Out (whose
/// parameters and fields are set), by field index. Wants optimised code, in
/// which parameters are not spilled to the stack. Stores that cannot be traced
/// to a parameter are not listed.
void describeWrites(const llvm::Function &Kernel, UnitKernel &Out);

} // namespace r3::plugin
