// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements end at a semicolon. A brace opens a block, or, within an
// instruction, a vector operand; a few directives end with their line.
#include "wrapper/trust/Ptx.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace r3::trust {

namespace {

bool isName(char C) {
  return std::isalnum(static_cast<unsigned char>(C)) || C == '_' || C == '$' ||
         C == '%';
}

/// Without comments, and without what stands in strings.
std::string withoutComments(std::string_view Text) {
  std::string Out;
  for (size_t I = 0; I < Text.size();) {
    const std::string_view Rest = Text.substr(I);
    size_t End = 1;
    if (Rest.starts_with("//"))
      End = std::min(Rest.find('\n'), Rest.size());
    else if (Rest.starts_with("/*"))
      End = std::min(Rest.find("*/", 2), Rest.size() - 2) + 2;
    else if (Rest[0] == '"')
      End = std::min(Rest.find('"', 1), Rest.size() - 1) + 1;
    Out += End > 1 || Rest.starts_with("//") ? ' ' : Rest[0];
    I += std::max<size_t>(End, 1);
  }
  return Out;
}

std::vector<std::string_view> wordsOf(std::string_view Text) {
  std::vector<std::string_view> Words;
  auto Inside = [](char C) { return isName(C) || C == '.' || C == ':'; };
  for (size_t I = 0; I < Text.size();) {
    size_t End = I;
    while (End < Text.size() && Inside(Text[End]))
      ++End;
    if (End > I)
      Words.push_back(Text.substr(I, End - I));
    I = std::max(End, I + 1);
  }
  return Words;
}

bool has(const std::vector<std::string_view> &Words, std::string_view Word) {
  return std::find(Words.begin(), Words.end(), Word) != Words.end();
}

std::string_view trimmed(std::string_view Text) {
  while (!Text.empty() && std::isspace(static_cast<unsigned char>(Text[0])))
    Text.remove_prefix(1);
  while (!Text.empty() && std::isspace(static_cast<unsigned char>(Text.back())))
    Text.remove_suffix(1);
  return Text;
}

uint64_t numberAfter(std::string_view Text, size_t At) {
  return std::strtoull(std::string(Text.substr(At)).c_str(), nullptr, 10);
}

/// ".param .align 8 .b8 name[24]", ".param .u64 .ptr .align 1 name". The
/// alignment behind .ptr is that of what is pointed to.
PtxParameter parameterOf(std::string_view Text) {
  PtxParameter P;
  for (std::string_view Word : wordsOf(Text))
    if (Word.size() > 2 && Word[0] == '.' &&
        std::string_view("busf").find(Word[1]) != std::string_view::npos &&
        std::isdigit(static_cast<unsigned char>(Word[2])))
      P.Size = numberAfter(Word, 2) / 8;
  P.Alignment = P.Size;
  if (const size_t At = Text.find(".align");
      At != std::string_view::npos && At < Text.find(".ptr"))
    P.Alignment = numberAfter(Text, At + 6);
  if (const size_t At = Text.find('['); At != std::string_view::npos)
    P.Size *= numberAfter(Text, At + 1);
  return P;
}

constexpr std::string_view ClockRegisters[] = {"%clock", "%globaltimer", "%pm",
                                               "%gridid", "%envreg"};

class Reader {
public:
  explicit Reader(Ptx &Into) : Into(Into) {}

  void read(std::string_view Text) {
    for (size_t I = 0; I < Text.size(); ++I)
      take(Text, I);
  }

private:
  void take(std::string_view Text, size_t I) {
    const char C = Text[I];
    const std::string_view Before = trimmed(Statement);
    if (C == ';') {
      if (!Before.empty())
        finish(Before);
      Statement.clear();
    } else if (C == '{' && (Before.empty() || Before[0] == '.')) {
      if (!Before.empty())
        finish(Before);
      Statement.clear();
    } else if (C == '}' && Statement.find('{') == std::string::npos) {
      Statement.clear();
    } else if (C == '\n' && endsWithLine(Before)) {
      Statement.clear();
    } else if (C == ':' && isLabel(Before) && Text.substr(I, 2) != "::" &&
               Text[I - 1] != ':') {
      Statement.clear();
    } else {
      Statement += C;
    }
  }

  static bool endsWithLine(std::string_view Before) {
    for (const char *Start :
         {".loc", ".file", ".version", ".target", ".address_size"})
      if (Before.starts_with(Start))
        return true;
    return false;
  }

  static bool isLabel(std::string_view Before) {
    return !Before.empty() && std::all_of(Before.begin(), Before.end(), isName);
  }

  void finish(std::string_view Text) {
    Words = wordsOf(Text);
    if (Words.empty())
      return;
    if (Text[0] == '.')
      directive(Text);
    else
      instruction(Text);
  }

  void directive(std::string_view Text) {
    Into.SharesMemory |= has(Words, ".shared");
    if (has(Words, ".entry"))
      entry(Text);
    else if (has(Words, ".func") && has(Words, ".extern"))
      Into.Externs.emplace(functionName(Text));
    else if (has(Words, ".callprototype") || has(Words, ".calltargets"))
      Into.CallsPointers = true;
    else if (has(Words, ".global"))
      Into.Variables.emplace(variableName(Text));
  }

  void entry(std::string_view Text) {
    const size_t Open = Text.find('(');
    const auto At = std::find(Words.begin(), Words.end(), ".entry") + 1;
    if (At == Words.end())
      return;
    auto &List = Into.Entries[std::string(*At)];
    if (Open == std::string_view::npos)
      return;
    std::string_view Rest =
        Text.substr(Open + 1, Text.find(')', Open) - Open - 1);
    while (!trimmed(Rest).empty()) {
      const size_t Comma = std::min(Rest.find(','), Rest.size());
      List.push_back(parameterOf(Rest.substr(0, Comma)));
      Rest.remove_prefix(std::min(Comma + 1, Rest.size()));
    }
  }

  /// ".extern .func (.param .b32 result) name (parameters)".
  static std::string functionName(std::string_view Text) {
    Text.remove_prefix(Text.find(".func") + 5);
    Text = trimmed(Text);
    if (Text.starts_with("("))
      Text.remove_prefix(std::min(Text.find(')') + 1, Text.size()));
    const auto Rest = wordsOf(Text);
    return Rest.empty() ? std::string() : std::string(Rest[0]);
  }

  /// ".visible .global .align 4 .b8 name[16] = ..."
  static std::string variableName(std::string_view Text) {
    const auto Rest = wordsOf(Text.substr(0, Text.find_first_of("[=")));
    return Rest.empty() ? std::string() : std::string(Rest.back());
  }

  void instruction(std::string_view Text) {
    size_t First = 0;
    if (Text[0] == '@') // a predicate
      First = 1;
    if (First >= Words.size() ||
        !std::islower(static_cast<unsigned char>(Words[First][0])))
      return;
    const std::string Name(Words[First]);
    ++Into.Instructions[Name];
    Into.SharesMemory |= Name.find(".shared") != Name.npos;
    const std::string_view Base =
        std::string_view(Name).substr(0, Name.find('.'));
    noteCachePolicies(Name, Base);
    if (Base == "nanosleep")
      Into.Clocks.emplace(Base);
    for (std::string_view Word : Words)
      for (std::string_view Register : ClockRegisters)
        if (Word.starts_with(Register))
          Into.Clocks.emplace(Word);
    if (Base == "call" && callsRegister(Text))
      Into.CallsPointers = true;
  }

  /// A policy may be any number: of a hint nobody knows what it asks for.
  void noteCachePolicies(const std::string &Name, std::string_view Base) {
    for (const char *Kind : {"L2::evict_last", "L2::cache_hint"})
      if ((Name + ".").find("." + std::string(Kind) + ".") != Name.npos)
        Into.CachePolicies.emplace(Kind, Name);
    if (Base == "discard" || Name.starts_with("createpolicy.cvt"))
      Into.CachePolicies.emplace(Base, Name);
  }

  /// Outside of the lists of results and arguments.
  static bool callsRegister(std::string_view Text) {
    unsigned Depth = 0;
    for (size_t I = Text.find("call"); I < Text.size(); ++I) {
      if (Text[I] == '(')
        ++Depth;
      else if (Text[I] == ')' && Depth)
        --Depth;
      else if (Text[I] == '%' && !Depth)
        return true;
    }
    return false;
  }

  Ptx &Into;
  std::string Statement;
  std::vector<std::string_view> Words; // of the statement
};

/// The first member of Given that Original lacks; empty where it has all.
std::string firstNew(const std::set<std::string> &Original,
                     const std::set<std::string> &Given) {
  for (const std::string &Each : Given)
    if (!Original.count(Each))
      return Each;
  return {};
}

std::string describe(const std::vector<PtxParameter> &Parameters) {
  std::string Text;
  for (const PtxParameter &P : Parameters)
    Text += (Text.empty() ? "" : ", ") +
            format("%llu bytes aligned to %llu",
                   static_cast<unsigned long long>(P.Size),
                   static_cast<unsigned long long>(P.Alignment));
  return Text.empty() ? "none" : Text;
}

} // namespace

Ptx readPtx(std::string_view Text) {
  Ptx Result;
  const std::string Clean = withoutComments(Text);
  Reader(Result).read(Clean);
  return Result;
}

bool synchronizes(const Ptx &Text) {
  return std::ranges::any_of(Text.Instructions, [](const auto &Each) {
    const std::string &Name = Each.first;
    return Name.starts_with("bar.") || Name.starts_with("barrier.") ||
           Name.starts_with("mbarrier.") ||
           (Name + ".").find(".sync.") != Name.npos;
  });
}

std::string ptxRefusal(const Ptx &Original, const Ptx &Given,
                       const std::string &Kernel) {
  for (const auto &[Name, Parameters] : Given.Entries)
    if (Name != Kernel)
      return "the PTX has another entry, " + Name + ": only " + Kernel +
             " may stand in it";
  const auto Found = Given.Entries.find(Kernel);
  if (Found == Given.Entries.end())
    return "the PTX has no entry " + Kernel;
  const auto Recorded = Original.Entries.find(Kernel);
  if (Recorded == Original.Entries.end())
    return "the generated PTX has no entry " + Kernel;
  if (Found->second != Recorded->second)
    return "the PTX's kernel takes other parameters (" +
           describe(Found->second) + ") than the recorded one (" +
           describe(Recorded->second) + ")";
  if (std::string New = firstNew(Original.Clocks, Given.Clocks); !New.empty())
    return "the PTX uses " + New + ", which the original does not";
  if (std::string New = firstNew(Original.Externs, Given.Externs); !New.empty())
    return "the PTX calls " + New + ", which the original does not";
  if (std::string New = firstNew(Original.Variables, Given.Variables);
      !New.empty())
    return "the PTX has the variable " + New +
           ", which no recording of this kernel holds (constants: .const)";
  if (Given.CallsPointers && !Original.CallsPointers)
    return "the PTX calls through pointers, which the original does not";
  return {};
}

std::string newCachePolicy(const Ptx &Original, const Ptx &Variant) {
  for (const auto &[Kind, Instruction] : Variant.CachePolicies)
    if (!Original.CachePolicies.count(Kind))
      return Instruction +
             ", the like of which the original does not have, acts on the L2 "
             "cache beyond its launch: the next one is faster for it";
  return {};
}

} // namespace r3::trust
