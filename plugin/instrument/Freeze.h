// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is undefined gets a pattern: undef and poison values, variables from
// the beginning of their life on, and shared memory at the start of a block.
// Two builds with two patterns agree where a kernel uses nothing undefined.
// Poison that an operation makes (nsw, inbounds, shifts by too much) is left.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

namespace r3::instrument {

/// Repeated over a value: a NaN and -1, and a large number. Their lowest bits,
/// which are what a bool is, differ.
inline constexpr uint8_t FreezeBytes[] = {0xFF, 0x5A};

/// M: the closure of a kernel as device code, its variables still in memory.
Error freezeUndefined(llvm::Module &M, uint8_t Byte);

} // namespace r3::instrument
