// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line of printed IR is one instruction; what goes over several lines (the
// cases of a switch) counts by its first one.
#include "wrapper/r3/IrDifference.h"

#include "runtime/support/Error.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace r3 {

namespace {

/// Groups of instructions, what says most first.
enum class Group {
  Barriers,
  Vectors,
  Stores,
  Loads,
  Atomics,
  Loops,
  Calls,
  Variables,
  Branches,
  Selects,
  Floats,
  Others
};

const char *prefixOf(Group G) {
  static constexpr const char *Names[] = {
      "BARRIERS", "VECTORS",   "STORES",   "LOADS",   "ATOMICS",    "LOOPS",
      "CALLS",    "VARIABLES", "BRANCHES", "SELECTS", "ARITHMETIC", "CODE"};
  return Names[size_t(G)];
}

struct Instruction {
  Group What = Group::Others;
  std::string Pattern;  // of FileCheck; one match a line
  bool Ordered = false; // memory and calls
};

std::string_view trimmed(std::string_view Text) {
  const size_t Start = Text.find_first_not_of(" \t");
  return Start == std::string_view::npos ? "" : Text.substr(Start);
}

bool takeWord(std::string_view &Text, std::string_view Word) {
  if (!Text.starts_with(Word) || Text.size() == Word.size() ||
      Text[Word.size()] != ' ')
    return false;
  Text = trimmed(Text.substr(Word.size()));
  return true;
}

/// The type at the start: up to a blank or comma outside of brackets.
std::string_view typeAt(std::string_view Text) {
  int Depth = 0;
  size_t At = 0;
  for (; At < Text.size(); ++At) {
    const char C = Text[At];
    if (!Depth && (C == ' ' || C == ','))
      break;
    Depth += C == '<' || C == '[' || C == '{' || C == '(';
    Depth -= C == '>' || C == ']' || C == '}' || C == ')';
  }
  return Text.substr(0, At);
}

std::string calleeOf(std::string_view Text) {
  const size_t At = Text.find('@'), End = Text.find('(', At);
  if (At == std::string_view::npos || End == std::string_view::npos)
    return {};
  return std::string(Text.substr(At, End - At));
}

bool isOneOf(std::string_view Word, std::string_view List) {
  const std::string Padded = " " + std::string(Word) + " ";
  return (" " + std::string(List) + " ").find(Padded) != std::string::npos;
}

/// Calls that are no work: the optimiser's notes to itself.
bool isNote(const std::string &Callee) {
  return Callee.starts_with("@llvm.lifetime.") ||
         Callee.starts_with("@llvm.assume") ||
         Callee.starts_with("@llvm.dbg.") ||
         Callee.starts_with("@llvm.experimental.noalias");
}

Instruction callAt(std::string_view Rest) {
  const std::string Callee = calleeOf(Rest);
  if (Callee.empty() || isNote(Callee))
    return {};
  const bool Waits = Callee.find("barrier") != std::string::npos ||
                     Callee.find("bar.sync") != std::string::npos ||
                     Callee.find("bar.warp") != std::string::npos;
  return {Waits ? Group::Barriers : Group::Calls, "call {{.*}}" + Callee + "(",
          /*Ordered=*/true};
}

Instruction memoryAt(bool IsStore, std::string_view Rest) {
  std::string Words = IsStore ? "store " : "= load ";
  for (const char *Word : {"atomic", "volatile"})
    if (takeWord(Rest, Word))
      Words += std::string(Word) + " ";
  const std::string_view Type = typeAt(Rest);
  const Group Plain = IsStore ? Group::Stores : Group::Loads;
  return {Type.starts_with("<") ? Group::Vectors : Plain,
          Words + std::string(Type) + (IsStore ? " {{.*}}, ptr" : ", ptr"),
          /*Ordered=*/true};
}

/// What a line inside a function is; no pattern: nothing to count.
Instruction readLine(std::string_view Line) {
  std::string_view Rest = trimmed(Line);
  bool HasResult = false;
  if (const size_t Equal = Rest.find(" = ");
      Rest.starts_with("%") && Equal != std::string_view::npos) {
    HasResult = true;
    Rest = Rest.substr(Equal + 3);
  }
  for (const char *Word : {"tail", "musttail", "notail"})
    takeWord(Rest, Word);
  std::string_view After = Rest;
  if (takeWord(After, "call"))
    return callAt(After);
  if (!HasResult && takeWord(After, "store"))
    return memoryAt(/*IsStore=*/true, After);
  if (HasResult && takeWord(After, "load"))
    return memoryAt(/*IsStore=*/false, After);
  if (!HasResult)
    return Rest.starts_with("br i1 ")
               ? Instruction{Group::Branches, "br i1 {{.*}}", false}
               : Instruction{};
  const std::string Opcode(Rest.substr(0, Rest.find(' ')));
  const std::string Pattern = "= " + Opcode + " {{.*}}";
  if (isOneOf(Opcode, "atomicrmw cmpxchg"))
    return {Group::Atomics, Pattern, true};
  if (Opcode == "alloca")
    return {Group::Variables, Pattern, false};
  if (Opcode == "select")
    return {Group::Selects, Pattern, false};
  if (isOneOf(Opcode, "fadd fsub fmul fdiv frem fneg"))
    return {Group::Floats, Pattern, false};
  return {Group::Others, Pattern, false};
}

struct Summary {
  std::map<std::pair<Group, std::string>, size_t> Counts;
  std::vector<Instruction> Order; // of what is ordered
};

Summary summarise(std::string_view Ir) {
  Summary Found;
  bool Inside = false;
  while (!Ir.empty()) {
    const size_t End = std::min(Ir.find('\n'), Ir.size());
    const std::string_view Line = Ir.substr(0, End);
    Ir.remove_prefix(std::min(End + 1, Ir.size()));
    if (Line.starts_with("define "))
      Inside = true;
    else if (Line.starts_with("}"))
      Inside = false;
    else if (Inside && Line.starts_with("  ")) {
      if (Line.find(", !llvm.loop ") != std::string_view::npos)
        ++Found.Counts[{Group::Loops, ", !llvm.loop {{.*}}"}];
      if (Instruction I = readLine(Line); !I.Pattern.empty()) {
        ++Found.Counts[{I.What, I.Pattern}];
        if (I.Ordered)
          Found.Order.push_back(std::move(I));
      }
    }
  }
  return Found;
}

/// A pattern for people.
std::string shown(std::string Pattern) {
  if (const size_t At = Pattern.find("{{.*}}@"); At != std::string::npos)
    Pattern.erase(At, std::string_view("{{.*}}").size());
  for (const char *Hole :
       {", !llvm.", " {{.*}}, ptr", ", ptr", " {{.*}}", "{{.*}}", "= "})
    if (const size_t At = Pattern.find(Hole); At != std::string::npos)
      Pattern.erase(At, std::string_view(Hole).size());
  if (Pattern.ends_with("("))
    Pattern.pop_back();
  return Pattern;
}

/// Fewer than before: at most so many. More: at least so many.
IrProperty counted(Group G, const std::string &Pattern, size_t Before,
                   size_t After) {
  IrProperty P;
  P.Prefix = prefixOf(G);
  P.Meaning =
      format("%zu x %s; %zu without", After, shown(Pattern).c_str(), Before);
  if (After)
    P.Directives.push_back(format("-COUNT-%zu: ", After) + Pattern);
  if (After < Before)
    P.Directives.push_back("-NOT: " + Pattern);
  return P;
}

/// More than this no person reads, and each further one breaks more easily.
constexpr size_t LongestOrder = 40;

void addOrder(const Summary &Before, const Summary &After,
              std::vector<IrProperty> &All) {
  const auto isSame = [](const Instruction &A, const Instruction &B) {
    return A.Pattern == B.Pattern;
  };
  if (After.Order.size() > LongestOrder ||
      std::equal(Before.Order.begin(), Before.Order.end(), After.Order.begin(),
                 After.Order.end(), isSame))
    return;
  IrProperty P;
  P.Prefix = "ORDER";
  P.Meaning = "the order of memory accesses and calls";
  for (const Instruction &I : After.Order) {
    P.Directives.push_back(": " + I.Pattern);
    if (std::find(P.Exclusive.begin(), P.Exclusive.end(), I.Pattern) ==
        P.Exclusive.end())
      P.Exclusive.push_back(I.Pattern);
  }
  All.push_back(std::move(P));
}

} // namespace

std::vector<IrProperty> differences(std::string_view Original,
                                    std::string_view Tuned) {
  const Summary Before = summarise(Original), After = summarise(Tuned);
  // By group, then by how much differs, then by name.
  std::vector<std::tuple<Group, size_t, std::string>> Sorted;
  auto countIn = [](const Summary &S, const auto &Key) {
    const auto Found = S.Counts.find(Key);
    return Found == S.Counts.end() ? size_t(0) : Found->second;
  };
  auto Keys = Before.Counts;
  Keys.insert(After.Counts.begin(), After.Counts.end());
  for (const auto &[Key, Any] : Keys) {
    const size_t A = countIn(Before, Key), B = countIn(After, Key);
    if (A != B)
      Sorted.emplace_back(Key.first, SIZE_MAX - (A > B ? A - B : B - A),
                          Key.second);
  }
  std::sort(Sorted.begin(), Sorted.end());
  std::vector<IrProperty> All;
  std::map<std::string, int> Used;
  for (const auto &[G, Rank, Pattern] : Sorted) {
    if (G == Group::Others && All.empty())
      addOrder(Before, After, All);
    IrProperty P = counted(G, Pattern, countIn(Before, std::pair(G, Pattern)),
                           countIn(After, std::pair(G, Pattern)));
    if (const int Number = Used[P.Prefix]++)
      P.Prefix += std::to_string(Number + 1);
    All.push_back(std::move(P));
  }
  if (Sorted.empty())
    addOrder(Before, After, All);
  return All;
}

} // namespace r3
