// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A digest of optimised IR: two modules with the same one give the same code
// with the same code generator. Unlike the fingerprint it keeps all that code
// generation may look at: attributes, metadata, the order of functions, blocks
// and uses. Names of values inside functions are all that it is blind to.
#pragma once

#include "llvm/IR/Module.h"

#include <string>

namespace r3::ir {

/// 32 hex digits. Takes the names of values inside functions away.
std::string irDigest(llvm::Module &M);

} // namespace r3::ir
