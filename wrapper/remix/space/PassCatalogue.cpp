// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the catalogue, strictly, and turns lists of parameters into groups.
#include "wrapper/remix/space/PassCatalogue.h"

#include "runtime/support/Files.h"
#include "runtime/support/Process.h"
#include "runtime/support/Toml.h"
#include "wrapper/remix/PipelineText.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

namespace r3 {

namespace {

/// Numbers that a parameter is given: powers of two up to this, or to what the
/// catalogue says.
constexpr uint64_t LargestNumber = 1024;

bool contains(const std::vector<std::string> &Words, std::string_view Word) {
  return std::find(Words.begin(), Words.end(), Word) != Words.end();
}

/// By name, of those that take less.
using Limits = std::map<std::string, uint64_t, std::less<>>;

ParameterGroup numbers(const std::string &Name, const Limits &Largest) {
  ParameterGroup Group;
  Group.IsNumber = true;
  const auto Found = Largest.find(Name);
  const uint64_t Most = Found == Largest.end() ? LargestNumber : Found->second;
  for (uint64_t Number = 1; Number <= Most; Number *= 2)
    Group.Values.push_back(Name + "=" + std::to_string(Number));
  return Group;
}

/// "x" and "no-x" exclude each other, and so do all flags without such a
/// partner ("O1" and "O2"). What takes something else than a number is left
/// out.
std::vector<ParameterGroup> groupsOf(const std::vector<std::string> &Parameters,
                                     const Limits &Largest) {
  std::vector<ParameterGroup> Groups;
  ParameterGroup Single;
  for (const std::string &P : Parameters) {
    if (size_t Equals = P.find('='); Equals != std::string::npos) {
      if (P.substr(Equals) == "=N" && P.find('[') == std::string::npos)
        if (auto Taken = numbers(P.substr(0, Equals), Largest);
            !Taken.Values.empty())
          Groups.push_back(std::move(Taken));
      continue;
    }
    if (P.starts_with("no-") && contains(Parameters, P.substr(3)))
      continue;
    if (contains(Parameters, "no-" + P))
      Groups.push_back({{P, "no-" + P}, false});
    else
      Single.Values.push_back(P);
  }
  if (!Single.Values.empty())
    Groups.push_back(std::move(Single));
  return Groups;
}

std::vector<std::string_view> splitParameters(std::string_view Text) {
  std::vector<std::string_view> Parts;
  while (!Text.empty()) {
    size_t End = std::min(Text.find(';'), Text.size());
    if (End)
      Parts.push_back(Text.substr(0, End));
    Text.remove_prefix(std::min(End + 1, Text.size()));
  }
  return Parts;
}

Error takeText(const toml::node &Value, std::string &Into) {
  auto Text = Value.value_exact<std::string>();
  if (!Text)
    return fail(ErrorCode::Damaged, "a text in quotes expected");
  Into = *Text;
  return Error::success();
}

Error takeTexts(const toml::node &Value, std::vector<std::string> &Into) {
  const toml::array *List = Value.as_array();
  if (!List)
    return fail(ErrorCode::Damaged, "a list expected");
  for (const toml::node &Item : *List)
    if (Error E = takeText(Item, Into.emplace_back()))
      return E;
  return Error::success();
}

/// "guard=64".
Error takeLimits(const toml::node &Value, Limits &Into) {
  std::vector<std::string> Texts;
  if (Error E = takeTexts(Value, Texts))
    return E;
  for (const std::string &Text : Texts) {
    const size_t Equals = std::min(Text.find('='), Text.size());
    const char *Begin = Text.data() + std::min(Equals + 1, Text.size());
    const char *End = Text.data() + Text.size();
    uint64_t Number = 0;
    const auto Read = std::from_chars(Begin, End, Number);
    if (Read.ec != std::errc() || Read.ptr != End || Number > LargestNumber)
      return fail(ErrorCode::Damaged, "'%s' is no NAME=NUMBER up to %llu",
                  Text.c_str(), static_cast<unsigned long long>(LargestNumber));
    Into[Text.substr(0, Equals)] = Number;
  }
  return Error::success();
}

Error takeFlag(const toml::node &Value, bool &Into) {
  auto Flag = Value.value_exact<bool>();
  Into = Flag.value_or(false);
  return Flag ? Error::success()
              : fail(ErrorCode::Damaged, "true or false expected");
}

/// A pass, and whether it is usable.
Error takePass(const toml::table &Table, CatalogPass &Pass, bool &Usable) {
  std::vector<std::string> Parameters;
  Limits Largest;
  std::string Why;
  for (const auto &[Key, Value] : Table) {
    Error E = Key == "name"         ? takeText(Value, Pass.Name)
              : Key == "kind"       ? takeText(Value, Pass.Kind)
              : Key == "needed"     ? takeText(Value, Pass.Needed)
              : Key == "parameters" ? takeTexts(Value, Parameters)
              : Key == "largest"    ? takeLimits(Value, Largest)
              : Key == "lists"      ? takeTexts(Value, Pass.Lists)
              : Key == "unusable"   ? takeText(Value, Why)
              : Key == "idle"       ? takeFlag(Value, Pass.IsIdle)
                                    : fail(ErrorCode::Damaged, "unknown key");
    if (E)
      return E.in(std::string(Key.str()));
  }
  if (Pass.Name.empty() || Pass.Lists.empty() == Why.empty())
    return fail(ErrorCode::Damaged,
                "a pass has a name and either lists or the reason why not");
  for (const std::string &List : Pass.Lists)
    if (!contains({"module", "cgscc", "function", "loop", "loop-mssa"}, List))
      return fail(ErrorCode::Damaged, "%s: '%s' is no list of passes",
                  Pass.Name.c_str(), List.c_str());
  Pass.Groups = groupsOf(Parameters, Largest);
  int64_t Settings = 1;
  for (const ParameterGroup &Group : Pass.Groups)
    Settings *= int64_t(Group.Values.size()) + 1;
  if (Parameters.size() > 64 || Settings > std::numeric_limits<int32_t>::max())
    return fail(ErrorCode::Damaged, "%s has too many parameters",
                Pass.Name.c_str());
  Usable = Why.empty();
  return Error::success();
}

} // namespace

int32_t CatalogPass::settingCount() const {
  int32_t Count = 1;
  for (const ParameterGroup &Group : Groups)
    Count *= int32_t(Group.Values.size()) + 1;
  return Count;
}

size_t CatalogPass::given(int32_t Setting, size_t Group) const {
  for (size_t I = 0; I < Group; ++I)
    Setting /= int32_t(Groups[I].Values.size()) + 1;
  return size_t(Setting) % (Groups[Group].Values.size() + 1);
}

int32_t CatalogPass::with(int32_t Setting, size_t Group, size_t Given) const {
  int32_t Scale = 1;
  for (size_t I = 0; I < Group; ++I)
    Scale *= int32_t(Groups[I].Values.size()) + 1;
  return Setting + Scale * (int32_t(Given) - int32_t(given(Setting, Group)));
}

std::string CatalogPass::text(int32_t Setting) const {
  std::string Parameters = Needed;
  for (size_t I = 0; I < Groups.size(); ++I) {
    size_t Given = given(Setting, I);
    if (!Given || Groups[I].Values[Given - 1] == Needed)
      continue;
    Parameters += Parameters.empty() ? "" : ";";
    Parameters += Groups[I].Values[Given - 1];
  }
  return Parameters.empty() ? Name : Name + "<" + Parameters + ">";
}

std::optional<int32_t> CatalogPass::settingOf(std::string_view Text) const {
  const std::string_view Base = passBase(Text);
  if (Base != Name)
    return std::nullopt;
  Text.remove_prefix(Base.size());
  if (Text.size() >= 2)
    Text = Text.substr(1, Text.size() - 2);
  int32_t Setting = 0;
  for (std::string_view Part : splitParameters(Text)) {
    bool Known = Part == Needed;
    for (size_t I = 0; I < Groups.size() && !Known; ++I) {
      const auto &Values = Groups[I].Values;
      auto Found = std::find(Values.begin(), Values.end(), Part);
      if (Found == Values.end())
        continue;
      Setting = with(Setting, I, size_t(Found - Values.begin()) + 1);
      Known = true;
    }
    if (!Known)
      return std::nullopt;
  }
  return Setting;
}

bool CatalogPass::mayStandIn(std::string_view List) const {
  return contains(Lists, List);
}

Expected<PassCatalogue> PassCatalogue::parse(const std::string &Toml,
                                             const std::string &Name) {
  toml::parse_result Parsed = toml::parse(std::string_view(Toml));
  if (!Parsed)
    return fail(ErrorCode::Damaged, "%s: line %u: %s", Name.c_str(),
                unsigned(Parsed.error().source().begin.line),
                std::string(Parsed.error().description()).c_str());
  PassCatalogue Result;
  const toml::table &Table = Parsed.table();
  const toml::array *List = Table["pass"].as_array();
  if (!List || !Table["llvm"].is_string())
    return fail(ErrorCode::Damaged, "%s: no llvm, or no pass", Name.c_str());
  Result.Llvm = Table["llvm"].value_or(std::string());
  for (const toml::node &Item : *List) {
    const toml::table *Entry = Item.as_table();
    bool Usable = false;
    CatalogPass Pass;
    Error E = Entry ? takePass(*Entry, Pass, Usable)
                    : fail(ErrorCode::Damaged, "a table expected");
    if (E)
      return E.in(format("%s: line %u", Name.c_str(),
                         unsigned(Item.source().begin.line)));
    if (Usable)
      Result.Usable.push_back(std::move(Pass));
    else
      ++Result.Unusable;
  }
  std::stable_sort(Result.Usable.begin(), Result.Usable.end(),
                   [](const CatalogPass &A, const CatalogPass &B) {
                     return A.Name < B.Name;
                   });
  // What is a pass of two kinds is one that may stand in the lists of both.
  for (size_t I = 1; I < Result.Usable.size();) {
    CatalogPass &Before = Result.Usable[I - 1], &Same = Result.Usable[I];
    if (Before.Name != Same.Name) {
      ++I;
      continue;
    }
    Before.Lists.insert(Before.Lists.end(), Same.Lists.begin(),
                        Same.Lists.end());
    Result.Usable.erase(Result.Usable.begin() + int64_t(I));
  }
  return Result;
}

Expected<PassCatalogue> PassCatalogue::readInstalled() {
  const std::string Path = installationPath("share/r3/passes.toml");
  auto Text = readTextFile(Path);
  if (!Text)
    return Text.error();
  return parse(*Text, Path);
}

std::optional<size_t> PassCatalogue::find(std::string_view Name) const {
  auto Found = std::lower_bound(
      Usable.begin(), Usable.end(), Name,
      [](const CatalogPass &P, std::string_view N) { return P.Name < N; });
  if (Found == Usable.end() || Found->Name != Name)
    return std::nullopt;
  return size_t(Found - Usable.begin());
}

} // namespace r3
