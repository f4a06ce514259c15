// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns a closure of NVPTX code into host code: target, calling conventions
// and attributes; one address space; the hidden context argument of every
// function; the kernel's entry, which takes its parameters from raw bytes.
#pragma once

#include "runtime/device/cpu/Image.h"

#include "llvm/IR/Module.h"

namespace r3::cpu {

/// What the code of the kernel says about parameters and limits. Called while
/// M still is of the device's data layout.
KernelImage describeKernel(const llvm::Function &Kernel);

/// Drops attributes, conventions and metadata that mean something to NVPTX.
void dropDeviceTraits(llvm::Module &M);

/// Moves mutable globals out (external, with an image of the first value),
/// all others into address space 0. Fills Image.Globals.
void moveGlobals(llvm::Module &M, KernelImage &Image);

/// Gives every function the context as first argument and replaces
/// __r3_context(). From here on all defined functions have it.
void addContext(llvm::Module &M);

/// Shared variables become places in the block's buffer. Fills StaticShared.
Error placeShared(llvm::Module &M, KernelImage &Image);

/// The kernel's body becomes internal and gets an entry of its name.
void addEntry(llvm::Module &M, const KernelImage &Image);

} // namespace r3::cpu
