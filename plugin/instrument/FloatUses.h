// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is a value nothing but a number? Followed through registers, calls and
// returns of the module, not through memory.
#pragma once

#include "llvm/IR/Function.h"

#include <cstdint>
#include <vector>

namespace r3::instrument {

/// Whether V, of floats or doubles, is only computed with, compared and stored:
/// a slightly different number is as good. Not so for what is converted to an
/// integer, by its bits or by its value (an index, a label), or compared with a
/// constant other than zero for equality (a mark).
bool isOnlyNumber(const llvm::Value &V);

/// Offsets in the argument bytes of the scalar float and double parameters of a
/// kernel that are only numbers.
std::vector<uint32_t> numberParameters(const llvm::Function &Kernel);

} // namespace r3::instrument
