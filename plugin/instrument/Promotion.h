// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The float values of one function, as double (Double.h).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

namespace r3::instrument {

/// The function to call with doubles in place of one with floats; null where
/// there is none.
using InDouble = llvm::function_ref<llvm::Function *(const llvm::Function &)>;

void promoteFloats(llvm::Function &F, InDouble Twin);

} // namespace r3::instrument
