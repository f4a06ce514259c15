// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/PtxParts.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace r3::replay {

namespace {

bool inName(char C) {
  return std::isalnum(static_cast<unsigned char>(C)) || C == '_' || C == '$' ||
         C == '%' || C == '.';
}

/// Where a comment or string that begins at At ends; At where there is none.
size_t behindComment(std::string_view Text, size_t At) {
  const std::string_view Rest = Text.substr(At);
  size_t End = 0;
  if (Rest.starts_with("//"))
    End = std::min(Rest.find('\n'), Rest.size());
  else if (Rest.starts_with("/*"))
    End = std::min(Rest.find("*/", 2), Rest.size() - 2) + 2;
  else if (Rest.starts_with("\""))
    End = std::min(Rest.find('"', 1), Rest.size() - 1) + 1;
  return At + End;
}

/// Calls Take with each word and with what is between words, comments and
/// strings included.
template <typename Function>
void forEachWord(std::string_view Text, Function Take) {
  for (size_t At = 0; At < Text.size();) {
    size_t End = behindComment(Text, At);
    const bool IsWord = End == At && inName(Text[At]);
    if (End == At)
      ++End;
    while (IsWord && End < Text.size() && inName(Text[End]))
      ++End;
    Take(Text.substr(At, End - At), IsWord);
    At = End;
  }
}

bool endsWithLine(std::string_view Directive) {
  return Directive == ".version" || Directive == ".target" ||
         Directive == ".address_size" || Directive == ".file";
}

/// What it declares. A function's name comes behind its results, a variable's
/// is the last word before its size or value.
void describe(PtxPart &Part) {
  unsigned Depth = 0;
  bool Ended = false;
  forEachWord(Part.Text, [&](std::string_view Word, bool IsWord) {
    if (Ended)
      return;
    if (!IsWord) {
      Depth += Word == "(";
      Depth -= Word == ")" && Depth;
      Ended = !Depth && (Word == "[" || Word == "=" || Word == "{");
    } else if (Word == ".entry") {
      Part.What = PtxPart::Entry;
    } else if (Word == ".func") {
      Part.What = PtxPart::Function;
    } else if (Word == ".global" || Word == ".const" || Word == ".shared") {
      Part.What = PtxPart::Variable;
    } else if (!Depth && Part.What != PtxPart::Head && Word[0] != '.') {
      Ended = Part.What != PtxPart::Variable;
      Part.Name = Word;
    }
  });
}

} // namespace

std::vector<PtxPart> ptxParts(std::string_view Text) {
  std::vector<PtxPart> Parts;
  std::string Own;
  std::string_view First; // word of the part
  unsigned Depth = 0;
  bool HasBody = false; // what the braces of a function are
  auto End = [&] {
    Parts.push_back({PtxPart::Head, "", std::move(Own)});
    describe(Parts.back());
    Own.clear();
    First = {};
    HasBody = false;
  };
  forEachWord(Text, [&](std::string_view Word, bool IsWord) {
    Own += Word;
    if (IsWord && First.empty())
      First = Word;
    HasBody |=
        IsWord && (Word == ".entry" || Word == ".func" || Word == ".section");
    Depth += Word == "{";
    if (Word == "}" && Depth && --Depth == 0 && HasBody)
      End();
    else if (!Depth && (Word == ";" || (Word == "\n" && endsWithLine(First))))
      End();
  });
  if (!Own.empty())
    End();
  return Parts;
}

std::string kernelAlone(const std::vector<PtxPart> &Parts,
                        const std::string &Kernel,
                        const std::map<std::string, std::string> &Names) {
  std::multimap<std::string_view, size_t> ByName;
  std::vector<bool> Kept(Parts.size());
  std::vector<size_t> Open;
  auto keep = [&](size_t I) {
    if (Kept[I])
      return;
    Kept[I] = true;
    Open.push_back(I);
  };
  for (size_t I = 0; I < Parts.size(); ++I) {
    if (Parts[I].What == PtxPart::Head ||
        (Parts[I].What == PtxPart::Entry && Parts[I].Name == Kernel))
      keep(I);
    else if (Parts[I].What != PtxPart::Entry)
      ByName.emplace(Parts[I].Name, I);
  }
  while (!Open.empty()) {
    const PtxPart &Part = Parts[Open.back()];
    Open.pop_back();
    forEachWord(Part.Text, [&](std::string_view Word, bool) {
      const auto [From, To] = ByName.equal_range(Word);
      for (auto It = From; It != To; ++It)
        keep(It->second);
    });
  }
  std::string Result;
  for (size_t I = 0; I < Parts.size(); ++I)
    if (Kept[I])
      forEachWord(Parts[I].Text, [&](std::string_view Word, bool) {
        const auto Other = Names.find(std::string(Word));
        Result += Other == Names.end() ? Word : std::string_view(Other->second);
      });
  return Result;
}

} // namespace r3::replay
