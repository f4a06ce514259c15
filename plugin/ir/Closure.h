// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closure of a kernel: the kernel, all functions that it can reach and all
// globals that those use, as a module of its own. Made from the unoptimised
// device module, whose names of globals it keeps.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace r3::ir {

/// The closure of Kernel, in the context of M. Mutable globals are defined and
/// external, so that no pass may conclude that nobody else writes them; other
/// kernels are gone; functions other than the kernel are internal.
Expected<std::unique_ptr<llvm::Module>> extractClosure(const llvm::Module &M,
                                                       llvm::StringRef Kernel);

/// The same with the module itself; unchanged where that fails.
Error reduceToClosure(llvm::Module &M, llvm::StringRef Kernel);

/// Names of all kernels of a device module, in its order.
std::vector<std::string> kernelNames(const llvm::Module &M);
bool isKernel(const llvm::Function &F);

/// What Kernel reaches (itself first): functions, globals and aliases, in the
/// order of first use.
std::vector<const llvm::GlobalValue *>
reachableFrom(const llvm::Function &Kernel);
/// Whether a program or another kernel may write G: neither a true constant
/// nor a block's shared memory.
bool isMutable(const llvm::GlobalVariable &G);

/// Gives internal mutable globals of M external linkage and names that are
/// unique in the program (suffix: UnitTag). Returns the new names. Internal
/// ones that nothing in M can write become constants instead. Called before
/// the snapshot is taken, on the module that is compiled, so that both agree.
std::vector<std::string> exposeGlobals(llvm::Module &M,
                                       llvm::StringRef UnitTag);

} // namespace r3::ir
