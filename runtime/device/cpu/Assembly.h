// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX: which function of the device code library does what a piece of
// it says. Single instructions are found by their name, some pieces of CUDA's
// own headers by their text.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace r3::cpu {

struct AssemblyMatch {
  std::string Function; // to look for in the library
  /// Numbers that are spelled in the text come behind the operands.
  llvm::SmallVector<uint32_t, 2> Immediates;
  bool IsEmpty = false; // nothing but a barrier for the compiler
};

/// Nothing where the text is more than one instruction, or has operands that
/// are not $0, $1, ... in order.
std::optional<AssemblyMatch> matchAssembly(llvm::StringRef Text);

} // namespace r3::cpu
