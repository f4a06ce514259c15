// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A cursor over the text; every function leaves it behind what it has read.
#include "runtime/device/cpu/Assembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;

namespace r3::cpu {

unsigned assemblyBits(StringRef Type) {
  if (Type == "pred")
    return 1;
  unsigned Times = Type.consume_back("x2") ? 2 : 1;
  unsigned Bits = 0;
  if (Type.consume_front("bf"))
    return Type == "16" ? 16 * Times : 0;
  if (Type.empty() || !StringRef("busf").contains(Type[0]) ||
      Type.drop_front().getAsInteger(10, Bits))
    return 0;
  bool IsKnown = Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64;
  return IsKnown ? Bits * Times : 0;
}

namespace {

bool isOfName(char C) { return isAlnum(C) || C == '_' || C == '$'; }

/// Without comments; "$$", a dollar sign that the program wrote, as "__".
std::string plain(StringRef Text) {
  std::string Result;
  while (!Text.empty()) {
    if (Text.starts_with("//"))
      Text = Text.drop_until([](char C) { return C == '\n'; });
    else if (Text.starts_with("/*") && Text.contains("*/"))
      Text = Text.split("*/").second;
    else if (Text.consume_front("$$"))
      Result += "__";
    else {
      Result += Text.front();
      Text = Text.drop_front();
    }
  }
  return Result;
}

class Reader {
public:
  explicit Reader(StringRef Text) : Rest(Text) {}

  bool read(AssemblyText &Into) {
    for (skipSpace(); !Rest.empty(); skipSpace())
      if (!readOne(Into))
        return false;
    return Scopes.size() == 1;
  }

private:
  StringRef Rest;
  SmallVector<StringMap<std::string>, 2> Scopes{1};

  void skipSpace() { Rest = Rest.ltrim(); }

  bool take(char C) {
    skipSpace();
    return Rest.consume_front(StringRef(&C, 1));
  }

  StringRef takeName() {
    skipSpace();
    StringRef Name = Rest.take_while(isOfName);
    Rest = Rest.drop_front(Name.size());
    return Name;
  }

  bool readOne(AssemblyText &Into) {
    if (take(';'))
      return true;
    if (take('{')) {
      Scopes.emplace_back();
      return true;
    }
    if (take('}')) {
      Scopes.pop_back();
      return !Scopes.empty();
    }
    bool IsRead = Rest.consume_front(".reg")
                      ? readRegisters(Into)
                      : readInstruction(Into.Instructions.emplace_back());
    return IsRead && atEnd();
  }

  /// Of a statement.
  bool atEnd() {
    skipSpace();
    return Rest.empty() || Rest.starts_with("}") || Rest.consume_front(";");
  }

  bool readRegisters(AssemblyText &Into) {
    if (!take('.'))
      return false;
    StringRef Type = takeName();
    if (!assemblyBits(Type))
      return false;
    do {
      take('%');
      std::string Name = takeName().str();
      if (Name.empty() || Name[0] == '$')
        return false;
      std::string Unique = Name + "." + std::to_string(Into.Registers.size());
      Scopes.back()[Name] = Unique;
      Into.Registers.push_back({Unique, Type.str()});
    } while (take(','));
    return true;
  }

  /// The register's unique name; empty where none is declared.
  std::string registerOf(StringRef Name) const {
    if (Name.starts_with("$") || Name == "_")
      return Name.str();
    for (const StringMap<std::string> &Scope : reverse(Scopes))
      if (auto Found = Scope.find(Name); Found != Scope.end())
        return Found->second;
    return {};
  }

  bool readInstruction(AssemblyInstruction &I) {
    if (take('@')) {
      I.GuardIsNegated = take('!');
      take('%');
      I.Guard = registerOf(takeName());
      if (I.Guard.empty())
        return false;
      skipSpace();
    }
    StringRef Code = Rest.take_while(
        [](char C) { return isOfName(C) || C == '.' || C == ':'; });
    Rest = Rest.drop_front(Code.size());
    if (Code.empty() || Code.ends_with(":"))
      return false;
    SmallVector<StringRef, 6> Words;
    Code.split(Words, '.');
    I.Words.assign(Words.begin(), Words.end());
    if (skipSpace(); Rest.empty() || Rest[0] == ';' || Rest[0] == '}')
      return true;
    return readOperands(I.Operands);
  }

  bool readOperands(std::vector<AssemblyOperand> &Into) {
    do
      if (!readOperand(Into.emplace_back()))
        return false;
    while (take(','));
    return true;
  }

  bool readOperand(AssemblyOperand &O) {
    if (take('!')) {
      O.IsNegated = true;
      return readName(O) && O.Is == AssemblyOperand::Kind::Register &&
             O.Also.empty();
    }
    if (take('{')) {
      O.Is = AssemblyOperand::Kind::Group;
      return readOperands(O.Parts) && take('}');
    }
    if (take('['))
      return readAddress(O);
    if (Rest.starts_with("-") || (!Rest.empty() && isDigit(Rest[0])))
      return readNumber(O);
    return readName(O);
  }

  bool readAddress(AssemblyOperand &O) {
    O.Is = AssemblyOperand::Kind::Address;
    if (!readName(O.Parts.emplace_back()))
      return false;
    AssemblyOperand Offset;
    if (take('+') && !readNumber(Offset))
      return false;
    O.Bits = Offset.Bits;
    return take(']');
  }

  bool readNumber(AssemblyOperand &O) {
    bool IsNegative = take('-');
    StringRef Digits = takeName();
    O.Is = AssemblyOperand::Kind::Number;
    if (Digits.consume_front_insensitive("0f")) {
      O.Is = AssemblyOperand::Kind::Float;
      return !IsNegative && !Digits.getAsInteger(16, O.Bits);
    }
    if (Digits.consume_front_insensitive("0d")) {
      O.Is = AssemblyOperand::Kind::Double;
      return !IsNegative && !Digits.getAsInteger(16, O.Bits);
    }
    Digits.consume_back("U");
    if (Digits.getAsInteger(0, O.Bits))
      return false;
    if (IsNegative)
      O.Bits = -O.Bits;
    return true;
  }

  bool readName(AssemblyOperand &O) {
    bool HasPercent = take('%');
    StringRef Name = takeName();
    O.Name = registerOf(Name);
    if (O.Name.empty())
      return readSpecial(O, Name, HasPercent);
    if (take('|')) {
      take('%');
      O.Also = registerOf(takeName());
      return !O.Also.empty();
    }
    return true;
  }

  bool readSpecial(AssemblyOperand &O, StringRef Name, bool HasPercent) {
    if (Name == "WARP_SZ") {
      O.Is = AssemblyOperand::Kind::Number;
      O.Bits = 32;
      return true;
    }
    O.Is = AssemblyOperand::Kind::Special;
    O.Name = Name.str();
    if (HasPercent && Rest.consume_front("."))
      O.Name += "_" + takeName().str();
    return HasPercent && !Name.empty();
  }
};

} // namespace

std::optional<AssemblyText> readAssembly(StringRef Text) {
  AssemblyText Result;
  std::string Plain = plain(Text);
  if (!Reader(Plain).read(Result))
    return std::nullopt;
  return Result;
}

} // namespace r3::cpu
