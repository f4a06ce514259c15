// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What instrumented builds know of libdevice's functions and of intrinsics, by
// their names.
#pragma once

#include "llvm/IR/Function.h"

#include <string>

namespace r3::instrument {

/// "add", "sub", "mul", "div", "rcp", "sqrt", "fma", "narrow", "i32", ...:
/// operations to nearest of float and double; empty for anything else.
std::string roundedOperation(const llvm::Function &F);

/// Whether what F returns may be inexact: a function of libdevice or an
/// intrinsic. False for roundedOperation's, for exact ones and for those with
/// explicit directed rounding.
bool isInexact(const llvm::Function &F);

/// Whether F is sincos or one of its kin: results through arguments 1 and 2.
bool hasRealsByPointer(const llvm::Function &F);

/// libdevice's function of double that does what Name does in float; empty
/// where there is none.
std::string nameInDouble(llvm::StringRef Name);

} // namespace r3::instrument
