// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a kernel's parameters: where each lies in the argument buffer,
// and the scalar fields that they consist of.
#pragma once

#include "runtime/support/Unit.h"

#include "llvm/IR/Function.h"

namespace r3::plugin {

/// Fills Parameters, Fields and ArgumentBytes. Names come from debug
/// information, else from the IR, else they are "arg0", "arg1.2".
void describeParameters(const llvm::Function &Kernel, UnitKernel &Out);

/// What a scalar (or a vector's element) of type T is; Bytes for all else.
ValueType valueType(const llvm::Type &T);

} // namespace r3::plugin
