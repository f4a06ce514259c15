// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a variant asks of PTX: register limit, launch bounds, and cache
// operators of loads and stores. Put onto a kernel behind its pipeline, by the
// compile worker and by the plugin alike.
#pragma once

#include "runtime/support/Variant.h"

#include "llvm/IR/Module.h"

namespace r3::ir {

/// CannotRunHere where cache operators are asked for and no load, or store, is
/// known to be one of global memory.
Error applyCodegen(llvm::Function &Kernel, const Variant &Change);

/// Device code for another variety of its architecture: "sm_90a" for code of
/// "sm_90". Before the pipeline. Usage where it is another architecture.
Error setArchitecture(llvm::Module &M, const std::string &Arch);

} // namespace r3::ir
