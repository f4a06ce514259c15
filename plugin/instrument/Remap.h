// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another order of blocks, and of the warps in a block: each read of a block's
// or a thread's index gives the index of another one, by a permutation that a
// seed chooses (RemapAbi.h). What runs first so does the work of what would run
// later. Lanes keep their places in a warp, so that warp operations do what
// they did; what the hardware numbers itself (%warpid) stays.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

namespace r3::instrument {

/// M: the closure of a kernel as device code. CannotRunHere where it reads
/// indices in inline assembly, or is made for clusters.
Error addRemap(llvm::Module &M);

} // namespace r3::instrument
