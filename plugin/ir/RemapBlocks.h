// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass r3-remap: a kernel that is launched with another shape of block
// (runtime/support/BlockShape.h) computes the indices and sizes that it would
// have had from those that it has. For kernels in which threads of a block do
// nothing together: no barrier, shared memory or warp operation.
#pragma once

#include "runtime/support/BlockShape.h"

#include "llvm/IR/Module.h"

namespace r3::ir {

/// M: the closure of a kernel as device code, before its pipeline.
/// CannotRunHere, with its name, where the kernel does something for which its
/// block must stay; M is as it was then.
Error remapBlocks(llvm::Module &M, const BlockShape &Shape);

} // namespace r3::ir
