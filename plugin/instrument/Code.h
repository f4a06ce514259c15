// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device code that instrumented builds call: code/*.cu, carried as bitcode
// that fits every architecture.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Module.h"

namespace r3::instrument {

/// The functions that M defines.
llvm::SmallVector<llvm::Function *, 32> definedFunctions(llvm::Module &M);

/// Those without libdevice, whose tricks need its own rounding.
llvm::SmallVector<llvm::Function *, 32> ownFunctions(llvm::Module &M);

/// Links Bitcode into M, for the processor and features of M's functions (of
/// which there must be one). Its functions become internal, its globals stay
/// visible. Build: for messages. OnlyNeeded: no more than what M declares.
Error linkCode(llvm::Module &M, llvm::ArrayRef<uint8_t> Bitcode,
               const char *Build, bool OnlyNeeded = false);

} // namespace r3::instrument
