// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// R3's own passes by name, for `opt -load-pass-plugin=libR3.so -passes=...`:
//   r3-closure<KERNEL>  leaves the kernel and what it reaches, without debug
//                       information: what variants of it are derived from
//   r3-default<O2>      clang's own pipeline of a level for device code (O0 to
//                       O3, Os, Oz), with what its driver passes to LLVM there
//   r3-remap<split-x=4> indices of another shape of block (RemapBlocks.h)
//   r3-optimisable      takes back what -O0 asked for, function by function
//   r3-BUILD            an instrumented build (Builds.h); r3-double<FILE> takes
//                       functions for double from FILE, which is libdevice
// What a pass refuses is an error of the context, which opt prints and fails.
#pragma once

#include "llvm/Passes/PassBuilder.h"

namespace r3::plugin {

/// Makes the names above known to a pass builder.
void registerOptPasses(llvm::PassBuilder &Builder);

} // namespace r3::plugin
