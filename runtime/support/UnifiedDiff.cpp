// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/support/UnifiedDiff.h"

#include <charconv>
#include <set>

namespace r3 {

namespace {

/// Lines with their ends.
std::vector<std::string_view> linesOf(std::string_view Text) {
  std::vector<std::string_view> Lines;
  while (!Text.empty()) {
    const size_t End = std::min(Text.find('\n'), Text.size() - 1) + 1;
    Lines.push_back(Text.substr(0, End));
    Text.remove_prefix(End);
  }
  return Lines;
}

class Parser {
public:
  Parser(std::string_view Text, const std::string &Name)
      : Lines(linesOf(Text)), Name(Name) {}

  Expected<std::vector<FileDiff>> run() {
    while (At < Lines.size()) {
      if (!Lines[At].starts_with("--- ")) {
        ++At; // git's own lines, or a commit's text
        continue;
      }
      if (Error E = readFile())
        return E;
    }
    if (Files.empty())
      return fail(ErrorCode::Damaged, "%s: no unified diff", Name.c_str());
    return std::move(Files);
  }

private:
  std::vector<std::string_view> Lines;
  const std::string &Name;
  std::vector<FileDiff> Files;
  std::set<std::string> Seen;
  size_t At = 0;

  Error wrong(const char *Why) const {
    return fail(ErrorCode::Damaged, "%s: line %zu: %s", Name.c_str(), At + 1,
                Why);
  }

  /// The path of a "--- " or "+++ " line, without what follows a tab.
  static std::string pathOf(std::string_view Line) {
    Line.remove_prefix(4);
    Line = Line.substr(0, Line.find_first_of("\t\r\n"));
    if (Line.starts_with("a/") || Line.starts_with("b/"))
      Line.remove_prefix(2);
    return std::string(Line);
  }

  static bool isInside(const std::string &Path) {
    return !Path.empty() && Path[0] != '/' && Path != ".." &&
           !Path.starts_with("../") && !Path.ends_with("/..") &&
           Path.find("/../") == std::string::npos;
  }

  Error readFile() {
    FileDiff F;
    F.Path = pathOf(Lines[At]);
    if (F.Path == "/dev/null")
      return wrong("the diff creates a file");
    if (!isInside(F.Path))
      return wrong("the path leads out of the root");
    if (++At >= Lines.size() || !Lines[At].starts_with("+++ "))
      return wrong("a +++ line expected");
    if (pathOf(Lines[At]) != F.Path)
      return wrong("the diff renames or removes a file");
    if (!Seen.insert(F.Path).second)
      return wrong("a file occurs twice");
    ++At;
    while (At < Lines.size() && Lines[At].starts_with("@@ "))
      if (Error E = readHunk(F))
        return E;
    if (F.Hunks.empty())
      return wrong("a hunk expected");
    Files.push_back(std::move(F));
    return Error::success();
  }

  /// "12" or "12,3" after a sign; false where it is neither.
  static bool readRange(std::string_view &Text, char Sign, size_t &Line,
                        size_t &Count) {
    if (Text.empty() || Text[0] != Sign)
      return false;
    const char *End = Text.data() + Text.size();
    auto [After, Code] = std::from_chars(Text.data() + 1, End, Line);
    if (Code != std::errc() || Line > (1u << 30))
      return false;
    Count = 1;
    if (After < End && *After == ',') {
      auto [Last, Wrong] = std::from_chars(After + 1, End, Count);
      if (Wrong != std::errc() || Count > (1u << 30))
        return false;
      After = Last;
    }
    Text.remove_prefix(static_cast<size_t>(After - Text.data()));
    return true;
  }

  Error readHunk(FileDiff &F) {
    DiffHunk H;
    size_t OldLeft = 0, NewLine = 0, NewLeft = 0;
    std::string_view Head = Lines[At].substr(3);
    if (!readRange(Head, '-', H.OldLine, OldLeft) || !Head.starts_with(" "))
      return wrong("'@@ -LINE,COUNT +LINE,COUNT @@' expected");
    Head.remove_prefix(1);
    if (!readRange(Head, '+', NewLine, NewLeft) || !Head.starts_with(" @@"))
      return wrong("'@@ -LINE,COUNT +LINE,COUNT @@' expected");
    ++At;
    while (OldLeft || NewLeft) {
      if (At >= Lines.size())
        return wrong("the hunk ends early");
      const char Kind = Lines[At][0] == '\n' ? ' ' : Lines[At][0];
      if (Kind != ' ' && Kind != '-' && Kind != '+')
        return wrong("a line of a hunk begins with ' ', '-' or '+'");
      if ((Kind != '+' && !OldLeft) || (Kind != '-' && !NewLeft))
        return wrong("the hunk is longer than it says");
      OldLeft -= Kind != '+';
      NewLeft -= Kind != '-';
      H.Lines.push_back(
          {Kind, std::string(Lines[At].substr(Lines[At][0] == '\n' ? 0 : 1))});
      ++At;
      readEndMark(H);
    }
    F.Hunks.push_back(std::move(H));
    return Error::success();
  }

  /// "\ No newline at end of file" belongs to the line before it.
  void readEndMark(DiffHunk &H) {
    if (At >= Lines.size() || Lines[At][0] != '\\')
      return;
    std::string &Text = H.Lines.back().Text;
    if (!Text.empty() && Text.back() == '\n')
      Text.pop_back();
    ++At;
  }
};

/// Whether the old lines of H are those of Lines from First on.
bool fits(const DiffHunk &H, const std::vector<std::string_view> &Lines,
          size_t First) {
  for (const DiffHunk::Line &L : H.Lines) {
    if (L.Kind == '+')
      continue;
    if (First >= Lines.size() || Lines[First] != L.Text)
      return false;
    ++First;
  }
  return true;
}

} // namespace

Expected<std::string> FileDiff::apply(std::string_view Old) const {
  const std::vector<std::string_view> Lines = linesOf(Old);
  std::string New;
  size_t Next = 0; // line of Old that is not yet in New
  for (const DiffHunk &H : Hunks) {
    // A hunk of added lines alone stands behind the line that it names.
    const bool OnlyAdds = H.Lines.empty() || [&] {
      for (const DiffHunk::Line &L : H.Lines)
        if (L.Kind != '+')
          return false;
      return true;
    }();
    const size_t Wanted = OnlyAdds ? H.OldLine : H.OldLine ? H.OldLine - 1 : 0;
    size_t Place = Lines.size() + 1;
    for (size_t Away = 0; Away <= Lines.size() && Place > Lines.size();
         ++Away) {
      if (Wanted >= Next + Away && Wanted - Away <= Lines.size() &&
          fits(H, Lines, Wanted - Away))
        Place = Wanted - Away;
      else if (Wanted + Away >= Next && Wanted + Away <= Lines.size() &&
               fits(H, Lines, Wanted + Away))
        Place = Wanted + Away;
    }
    if (Place > Lines.size())
      return fail(ErrorCode::Stale,
                  "%s: the change at line %zu does not fit: the file has "
                  "changed since",
                  Path.c_str(), H.OldLine);
    for (; Next < Place; ++Next)
      New += Lines[Next];
    for (const DiffHunk::Line &L : H.Lines) {
      if (L.Kind != '-')
        New += L.Text;
      Next += L.Kind != '+';
    }
  }
  for (; Next < Lines.size(); ++Next)
    New += Lines[Next];
  return New;
}

std::string FileDiff::added() const {
  std::string Text;
  for (const DiffHunk &H : Hunks)
    for (const DiffHunk::Line &L : H.Lines)
      if (L.Kind == '+')
        Text += L.Text;
  return Text;
}

Expected<std::vector<FileDiff>> parseUnifiedDiff(std::string_view Text,
                                                 const std::string &Name) {
  return Parser(Text, Name).run();
}

} // namespace r3
