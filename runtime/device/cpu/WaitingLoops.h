// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds loops that wait for another thread (a flag, a lock) and lets them give
// way: threads of a block take turns on one processor thread, so a loop that
// only waits would never end. Run on optimised code, where a loop's condition
// is in registers.
#pragma once

#include "llvm/IR/Module.h"

namespace r3::cpu {

/// Inserts __r3_cpu_spin into waiting loops.
void addTurns(llvm::Module &M);

} // namespace r3::cpu
