// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX as host code. Moves, loads, stores and comparisons are written
// here; every other instruction is a call of the device code library's function
// of its name (code/Library.h, AssemblyNames.h), so that the table of what can
// be run is the library.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/InstrTypes.h"

namespace r3::cpu {

/// Replaces Call, which is inline assembly. False where there is something in
/// it that cannot be run: the module is then of no use. Definition says what
/// the library has under a name. Sites numbers the places of the module that
/// ask for the active lanes.
bool writeAssembly(
    llvm::CallBase &Call,
    llvm::function_ref<llvm::Function *(llvm::StringRef)> Definition,
    unsigned &Sites);

} // namespace r3::cpu
