// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of words, and names made of the others.
#include "runtime/device/cpu/AssemblyNames.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace llvm;

namespace r3::cpu {

bool isIgnoredWord(StringRef Word) {
  static constexpr StringRef Ignored[] = {
      "ftz",   "noftz", "global", "shared", "shared::cta",
      "const", "local", "weak",   "nc",     "ca",
      "cg",    "cs",    "lu",     "wb",     "wt"};
  return is_contained(Ignored, Word) || Word.starts_with("L1::") ||
         Word.starts_with("L2::");
}

bool isWordOfAtomics(StringRef Word) {
  static constexpr StringRef Ordered[] = {"relaxed", "acquire", "release",
                                          "acq_rel", "cta",     "cluster",
                                          "gpu",     "sys"};
  return is_contained(Ordered, Word);
}

/// Whether Word is no part of the name of instruction First.
static bool isLeftOut(StringRef First, StringRef Word, bool WithModifiers) {
  if (First == "isspacep") // asks for the memory space
    return false;
  if (First == "atom" || First == "red")
    return isIgnoredWord(Word) || isWordOfAtomics(Word);
  if (First == "bar" || First == "barrier")
    return Word == "cta" || Word == "aligned";
  if (!WithModifiers && (Word == "sat" || Word == "relu"))
    return true;
  return isIgnoredWord(Word);
}

std::string assemblyFunction(const AssemblyInstruction &I, bool WithModifiers) {
  StringRef First = I.Words.front();
  std::string Name = "__r3_asm_" + (First == "barrier" ? "bar" : First.str());
  for (const std::string &Word : ArrayRef(I.Words).drop_front())
    if (!isLeftOut(First, Word, WithModifiers))
      Name += "_" + Word;
  std::replace(Name.begin(), Name.end(), ':', '_');
  return Name;
}

StringRef resultType(const AssemblyInstruction &I) {
  for (StringRef Word : ArrayRef(I.Words).drop_front())
    if (assemblyBits(Word))
      return Word;
  return {};
}

StringRef sourceType(const AssemblyInstruction &I) {
  for (StringRef Word : reverse(ArrayRef(I.Words).drop_front()))
    if (assemblyBits(Word))
      return Word;
  return {};
}

bool hasWord(const AssemblyInstruction &I, StringRef Word) {
  return is_contained(I.Words, Word);
}

AssemblyComparison assemblyComparison(const AssemblyInstruction &I) {
  AssemblyComparison C;
  if (I.Words.size() < 3)
    return C;
  // Unsigned integers have names of their own.
  C.Operator = StringSwitch<StringRef>(I.Words[1])
                   .Case("lo", "lt")
                   .Case("ls", "le")
                   .Case("hi", "gt")
                   .Case("hs", "ge")
                   .Default(I.Words[1])
                   .str();
  StringRef Third = I.Words[2], Type = sourceType(I);
  if (Third == "and" || Third == "or" || Third == "xor")
    C.Combination = Third.str();
  C.IsPair = Type.consume_back("x2");
  C.Type = Type.str();
  return C;
}

} // namespace r3::cpu
