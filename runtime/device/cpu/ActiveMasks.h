// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lanes are active is asked at a place, and a place is a path of calls:
// lanes that reach an inline function's question from both sides of a branch
// are apart on a GPU, and must not meet in it here.
#pragma once

#include "llvm/IR/Module.h"

namespace r3::cpu {

/// Inlines every call on the way to a question for the active lanes, so that
/// each question in M stands for one path. Calls through pointers and those of
/// a function by itself stay: there, paths share a place.
void separateActiveMasks(llvm::Module &M);

} // namespace r3::cpu
