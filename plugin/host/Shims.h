// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Redirects the program's uses of the CUDA runtime to shims that ask R3's
// runtime first.
#pragma once

#include "llvm/IR/Module.h"

#include <vector>

namespace r3::plugin {

/// A function of CudaApi.def that the module uses.
struct ApiUse {
  llvm::Function *Function = nullptr;
  unsigned Entry = 0; // of the image's table (ImageAbi.h)
};

std::vector<ApiUse> findApiUses(llvm::Module &M);
/// Number of entries that this plugin knows.
unsigned entryCount();
/// Replaces every use, as a callee or as a pointer, by a shim. Image is the
/// image's table.
void redirect(llvm::Module &M, const std::vector<ApiUse> &Uses,
              llvm::GlobalVariable &Image);
/// Hidden, one copy an image, and of no interest to sanitizers.
void makeImageLocal(llvm::GlobalObject &Object);

} // namespace r3::plugin
