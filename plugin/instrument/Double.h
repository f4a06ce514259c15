// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation in double of float code: values of float that live in registers
// become double, with what computes them, and so do local arrays; loads and
// arguments extend, stores truncate. Where a value is needed as float (memory,
// atomics, shuffles, bit casts, calls that are not inlined, vectors) it is
// truncated there. Constants keep their float value.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Module.h"

namespace r3::instrument {

/// M: the closure of a kernel as device code, its variables still in memory.
/// Libdevice: CUDA's library as bitcode, for sin instead of sinf; functions
/// that neither it nor M has stay in float.
Error evaluateInDouble(llvm::Module &M, llvm::ArrayRef<uint8_t> Libdevice);

} // namespace r3::instrument
