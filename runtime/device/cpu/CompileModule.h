// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps behind compileForCpu, for callers that hold a parsed module: the
// CPU device keeps a program's units parsed and compiles kernels from them one
// by one.
#pragma once

#include "runtime/device/cpu/Compile.h"
#include "runtime/device/cpu/Image.h"

#include "llvm/IR/Module.h"

#include <memory>

namespace r3::cpu {

Expected<std::unique_ptr<llvm::Module>>
parseDeviceModule(std::span<const uint8_t> Bitcode, llvm::LLVMContext &Context,
                  const std::string &Name);

/// The object file of one kernel. M is left as it is; its context is used.
Expected<std::vector<uint8_t>> compileKernel(const llvm::Module &M,
                                             const CpuCompileOptions &Options);

/// An object file with the first values of all mutable globals of M, and the
/// functions that those point to.
Expected<std::vector<uint8_t>> compileGlobals(const llvm::Module &M,
                                              const std::string &Level);

} // namespace r3::cpu
