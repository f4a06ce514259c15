// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the plugin does in a host compile, before the first pass.
#pragma once

#include "llvm/IR/Module.h"

namespace r3::plugin {

/// Instruments a module that launches kernels or calls the CUDA runtime;
/// leaves every other one alone. Returns whether it was changed.
bool instrumentHost(llvm::Module &M);

} // namespace r3::plugin
