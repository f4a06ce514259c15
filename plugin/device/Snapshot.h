// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The copy of a device module that is embedded, and modules as bytes.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace r3::plugin {

/// A copy of the unoptimised module M with what its kernels reach and all
/// memory that the host can see. Of debug information line numbers are kept.
std::unique_ptr<llvm::Module> makeSnapshot(const llvm::Module &M,
                                           const std::string &Source);

std::vector<uint8_t> writeBitcode(const llvm::Module &M);
Expected<std::unique_ptr<llvm::Module>>
readBitcode(std::span<const uint8_t> Bytes, llvm::LLVMContext &Context);

} // namespace r3::plugin
