// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Why a kernel cannot be recorded or replayed, as far as its code shows it.
#pragma once

#include "runtime/support/Unit.h"

#include "llvm/IR/Function.h"

namespace r3::plugin {

/// Sets Reason and Detail of Code for what Kernel reaches; leaves both empty
/// where nothing stands against a replay. Best asked on optimised code, where
/// calls through pointers that are known have become direct ones.
void findReason(const llvm::Function &Kernel, KernelCode &Code);

} // namespace r3::plugin
