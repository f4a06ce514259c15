// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replaces what only a GPU has (intrinsics of NVPTX, libdevice functions,
// device runtime functions, single PTX instructions in inline assembly) by
// functions of the device code library (code/), and links those in. What the
// library lacks is refused by name.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

namespace r3::cpu {

/// M is a closure, already of the host's triple and data layout. Afterwards it
/// calls functions of its own, of RuntimeCalls.def and of libm, and
/// __r3_context() alone.
Error substitute(llvm::Module &M);

/// Name of the library's function in which the context is asked for.
inline constexpr const char *ContextFunction = "__r3_context";

/// "file.cu:12", or "function f" where there is no debug information.
std::string sourceOf(const llvm::Instruction &I);

} // namespace r3::cpu
