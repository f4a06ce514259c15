// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Inline PTX, read: registers and instructions of straight-line text.
//
//   text        = { "{" | "}" | registers | instruction }
//   registers   = ".reg" "." type name { "," name } ";"
//   instruction = [ "@" ["!"] name ] word { "." word } [ operands ] ";"
//   operands    = operand { "," operand }
//   operand     = ["!"] name | name "|" name | "%" special | number
//               | "{" operands "}" | "[" operand [ "+" number ] "]"
//
// The last semicolon may be missing. Names that a brace ends are made unique.
// "$0" and so on are the operands of the inline assembly.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace r3::cpu {

struct AssemblyOperand {
  enum class Kind {
    Register, // Name; Also: the second destination behind a bar;
              // IsNegated: behind an exclamation mark
    Special,  // Name, without its percent sign, dots as underscores
    Number,   // Bits
    Float,    // Bits of a float (0f...)
    Double,   // Bits of a double (0d...)
    Group,    // Parts
    Address,  // Parts[0], and Bits bytes behind it
  };
  Kind Is = Kind::Register;
  std::string Name, Also;
  bool IsNegated = false;
  uint64_t Bits = 0;
  std::vector<AssemblyOperand> Parts;
};

struct AssemblyInstruction {
  std::string Guard; // a predicate, or empty
  bool GuardIsNegated = false;
  std::vector<std::string> Words; // "add.u32": add, u32
  std::vector<AssemblyOperand> Operands;
};

struct AssemblyRegister {
  std::string Name, Type;
};

struct AssemblyText {
  std::vector<AssemblyRegister> Registers;
  std::vector<AssemblyInstruction> Instructions;
};

/// Nothing where the text is not of the grammar above (labels, for example).
std::optional<AssemblyText> readAssembly(llvm::StringRef Text);

/// How many bits a register or memory type has ("u32", "f16x2"); 1: pred;
/// 0: not a type.
unsigned assemblyBits(llvm::StringRef Type);

} // namespace r3::cpu
