// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the words of a PTX instruction mean: which function of the device code
// library runs it, on which types, and what is to be done with its sources and
// its result besides.
#pragma once

#include "runtime/device/cpu/Assembly.h"

namespace r3::cpu {

/// Words that change nothing here: memory spaces (addresses are generic) and
/// cache hints. Subnormal numbers (.ftz) are looked at apart.
bool isIgnoredWord(llvm::StringRef Word);

/// Words of an atomic operation: all are ordered, and for the whole system.
bool isWordOfAtomics(llvm::StringRef Word);

/// "atom.global.add.u32" -> __r3_asm_atom_add_u32. WithModifiers: .sat and
/// .relu are part of the name.
std::string assemblyFunction(const AssemblyInstruction &I, bool WithModifiers);

/// The first and the last word that is a type (of the result and of the
/// sources), or nothing.
llvm::StringRef resultType(const AssemblyInstruction &I);
llvm::StringRef sourceType(const AssemblyInstruction &I);

bool hasWord(const AssemblyInstruction &I, llvm::StringRef Word);

/// set and setp: "setp.lo.and.u32" -> lt, and, u32.
struct AssemblyComparison {
  std::string Operator, Combination, Type; // Combination: and, or, xor, empty
  bool IsPair = false;                     // of 16-bit floats; Type is of one
};
AssemblyComparison assemblyComparison(const AssemblyInstruction &I);

} // namespace r3::cpu
