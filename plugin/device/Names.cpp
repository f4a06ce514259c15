// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's demangler writes a lambda as "main::'lambda0'(int)"; parameter lists
// in the middle of a name are noise, so they are cut by matching brackets.
#include "plugin/device/Names.h"

#include "plugin/ir/Fingerprint.h"

#include "llvm/Demangle/Demangle.h"

#include <cstdlib>

using namespace llvm;

namespace r3::plugin {

static std::string take(char *Text) {
  std::string Result = Text ? Text : "";
  std::free(Text);
  return Result;
}

static void replaceAll(std::string &Text, StringRef From, StringRef To) {
  for (size_t At = 0; (At = Text.find(From.str(), At)) != std::string::npos;
       At += To.size())
    Text.replace(At, From.size(), To.str());
}

/// One past the bracket that closes the one at Open.
static size_t closing(StringRef Text, size_t Open) {
  int Depth = 0;
  for (size_t I = Open; I < Text.size(); ++I) {
    Depth += Text[I] == '(';
    Depth -= Text[I] == ')';
    if (Depth == 0)
      return I + 1;
  }
  return Text.size();
}

/// Drops "(...)" wherever it follows a name or a lambda.
static std::string withoutParameters(StringRef Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size(); ++I) {
    bool AfterName = I > 0 && (isalnum(Text[I - 1]) || Text[I - 1] == '_' ||
                               Text[I - 1] == '\'' || Text[I - 1] == '>');
    if (Text[I] == '(' && AfterName)
      I = closing(Text, I) - 1;
    else
      Out += Text[I];
  }
  return Out;
}

static std::string tidy(std::string Text) {
  replaceAll(Text, "(anonymous namespace)::", "");
  replaceAll(Text, "operator()", "call");
  Text = withoutParameters(Text);
  replaceAll(Text, " const::", "::");
  std::string Out;
  for (char C : Text)
    if (C != '\'')
      Out += C;
  return Out;
}

/// Lambda ordinals stay: people have to tell two lambdas apart.
static std::string withoutSuffix(StringRef Name) {
  for (StringRef Marker : {"__intern__", ".intern.", "__static__"})
    Name = Name.take_front(Name.rfind(Marker));
  return Name.str();
}

std::string displayName(StringRef Name) {
  ItaniumPartialDemangler Demangler;
  std::string Plain = withoutSuffix(Name);
  if (Demangler.partialDemangle(Plain.c_str()) || !Demangler.isFunction())
    return Plain;
  return tidy(take(Demangler.getFunctionName(nullptr, nullptr)));
}

std::string variableName(StringRef Name) {
  ItaniumPartialDemangler Demangler;
  std::string Plain = ir::normalisedName(withoutSuffix(Name));
  if (Demangler.partialDemangle(Plain.c_str()))
    return Plain;
  return tidy(take(Demangler.finishDemangle(nullptr, nullptr)));
}

/// Where the name begins that ends at End: after '<', ',' or ' ' outside of
/// brackets.
static size_t nameStart(StringRef Text, size_t End) {
  int Depth = 0;
  for (size_t I = End; I > 0; --I) {
    char C = Text[I - 1];
    if (C == ')' || C == '>')
      ++Depth;
    else if (Depth > 0 && (C == '(' || C == '<'))
      --Depth;
    else if (Depth == 0 && (C == '<' || C == ',' || C == ' ' || C == '('))
      return I;
  }
  return 0;
}

std::string enclosingFunction(StringRef Name) {
  ItaniumPartialDemangler Demangler;
  std::string Plain = ir::normalisedName(withoutSuffix(Name));
  if (Demangler.partialDemangle(Plain.c_str()) || !Demangler.isFunction())
    return Plain;
  std::string Whole = take(Demangler.getFunctionName(nullptr, nullptr));
  replaceAll(Whole, "(anonymous namespace)::", "");
  size_t Lambda = Whole.find("::'lambda");
  if (Lambda != std::string::npos) {
    size_t Start = nameStart(Whole, Lambda);
    return tidy(Whole.substr(Start, Lambda - Start));
  }
  std::string Scope =
      take(Demangler.getFunctionDeclContextName(nullptr, nullptr));
  std::string Base = take(Demangler.getFunctionBaseName(nullptr, nullptr));
  return tidy(Scope.empty() ? Base : Scope + "::" + Base);
}

} // namespace r3::plugin
