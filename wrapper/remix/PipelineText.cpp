// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parser (recursive, depth-limited), the printer and the edits.
#include "wrapper/remix/PipelineText.h"

#include <algorithm>
#include <array>
#include <span>

namespace r3 {

namespace {

constexpr int MaxDepth = 32;

class Parser {
public:
  explicit Parser(std::string_view Text) : Text(Text) {}

  Expected<Pipeline> whole() {
    auto List = list(0);
    if (List && At != Text.size())
      return wrong("what follows is not understood");
    return List;
  }

private:
  Error wrong(const char *Why) const {
    return fail(ErrorCode::Damaged, "pipeline: offset %zu: %s", At, Why);
  }
  bool take(char C) {
    if (At >= Text.size() || Text[At] != C)
      return false;
    ++At;
    return true;
  }

  Expected<Pipeline> list(int Depth) {
    if (Depth > MaxDepth)
      return wrong("nested too deeply");
    Pipeline Result;
    do {
      auto One = element(Depth);
      if (!One)
        return One.error();
      Result.push_back(std::move(*One));
    } while (take(','));
    return Result;
  }

  Expected<PassNode> element(int Depth) {
    auto Name = name();
    if (!Name)
      return Name.error();
    PassNode Node;
    Node.Name = *Name;
    if (!take('('))
      return Node;
    Node.IsManager = true;
    auto Children = list(Depth + 1);
    if (!Children)
      return Children.error();
    Node.Children = std::move(*Children);
    if (!take(')'))
      return wrong("')' expected");
    return Node;
  }

  Expected<std::string> name() {
    size_t Start = At;
    int Angles = 0;
    for (; At < Text.size(); ++At) {
      char C = Text[At];
      if (!Angles && (C == ',' || C == '(' || C == ')'))
        break;
      Angles += C == '<' ? 1 : C == '>' ? -1 : 0;
      if (Angles < 0)
        return wrong("'>' without '<'");
    }
    if (Angles)
      return wrong("'<' without '>'");
    if (At == Start)
      return wrong("a pass expected");
    return std::string(Text.substr(Start, At - Start));
  }

  std::string_view Text;
  size_t At = 0;
};

void collect(const Pipeline &List, const std::string &Kind,
             std::vector<size_t> &Path, std::vector<PassPlace> &Places) {
  for (size_t I = 0; I < List.size(); ++I) {
    const PassNode &Node = List[I];
    if (!Node.IsManager) {
      if (!Kind.empty() && !isInert(Node))
        Places.push_back({Path, I, Kind});
      continue;
    }
    Path.push_back(I);
    collect(Node.Children, childKind(Node, Kind), Path, Places);
    Path.pop_back();
  }
}

Pipeline &listAt(Pipeline &P, std::span<const size_t> Path) {
  Pipeline *List = &P;
  for (size_t I : Path)
    List = &(*List)[I].Children;
  return *List;
}

void print(const Pipeline &List, std::string &Text) {
  for (size_t I = 0; I < List.size(); ++I) {
    Text += I ? "," : "";
    Text += List[I].Name;
    if (!List[I].IsManager)
      continue;
    Text += '(';
    print(List[I].Children, Text);
    Text += ')';
  }
}

} // namespace

bool isInert(const PassNode &Pass) {
  static constexpr std::array Names = {"require",
                                       "invalidate",
                                       "verify",
                                       "annotation-remarks",
                                       "annotation2metadata",
                                       "forceattrs",
                                       "coro-early",
                                       "coro-split",
                                       "coro-cleanup",
                                       "coro-elide",
                                       "cg-profile",
                                       "rel-lookup-table-converter",
                                       "alloc-token",
                                       "allow-ubsan-checks",
                                       "transform-warning",
                                       "openmp-opt",
                                       "openmp-opt-cgscc",
                                       "nvvm-reflect",
                                       "memprof-remove-attributes",
                                       "ee-instrument",
                                       "recompute-globalsaa",
                                       "coro-annotation-elide",
                                       "no-op-module",
                                       "no-op-function",
                                       "strip-dead-prototypes",
                                       "elim-avail-extern",
                                       "inferattrs",
                                       "lower-expect"};
  const std::string_view Base = Pass.base();
  return std::find(Names.begin(), Names.end(), Base) != Names.end();
}

Expected<Pipeline> parsePipeline(std::string_view Text) {
  return Parser(Text).whole();
}

std::string pipelineText(const Pipeline &P) {
  std::string Text;
  print(P, Text);
  return Text;
}

std::string childKind(const PassNode &Manager, const std::string &Outer) {
  const std::string_view Base = Manager.base();
  if (Base == "devirt" || Base == "coro-cond")
    return Outer;
  for (const char *Kind : {"module", "cgscc", "function", "loop", "loop-mssa"})
    if (Base == Kind)
      return Kind;
  return "";
}

std::vector<PassPlace> editablePasses(const Pipeline &P) {
  std::vector<PassPlace> Places;
  std::vector<size_t> Path;
  collect(P, "module", Path, Places);
  return Places;
}

const PassNode &passAt(const Pipeline &P, const PassPlace &Where) {
  return listAt(const_cast<Pipeline &>(P), Where.Path)[Where.Index];
}

Pipeline withoutPass(Pipeline P, const PassPlace &Where) {
  Pipeline &List = listAt(P, Where.Path);
  List.erase(List.begin() + Where.Index);
  for (size_t Depth = Where.Path.size(); Depth > 0; --Depth) {
    std::span<const size_t> Path(Where.Path.data(), Depth - 1);
    Pipeline &Outer = listAt(P, Path);
    size_t Manager = Where.Path[Depth - 1];
    if (!Outer[Manager].Children.empty())
      break;
    Outer.erase(Outer.begin() + Manager);
  }
  return P;
}

Pipeline withPassBefore(Pipeline P, const PassPlace &Where,
                        const std::string &Name) {
  Pipeline &List = listAt(P, Where.Path);
  List.insert(List.begin() + Where.Index, PassNode{Name, false, {}});
  return P;
}

} // namespace r3
