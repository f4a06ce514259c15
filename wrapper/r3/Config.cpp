// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads r3.toml, strictly: a key that does nothing is a mistake of somebody's.
#include "wrapper/r3/Config.h"

#include "runtime/support/Options.h"
#include "runtime/support/Toml.h"

#include <algorithm>
#include <functional>

namespace r3 {

const char *const ConfigTemplate =
    "# R3: this folder is the root of the project. Source paths in r3.profile\n"
    "# begin here, and the store .r3 (never committed) lies here, too.\n"
    "# Commit this file and r3.profile.\n"
    "format = 1\n"
    "\n"
    "# Defaults of the commands. An option of a command, or an R3_ variable,\n"
    "# wins over what is written here.\n"
    "[record]\n"
    "# limit = \"8GB\"     # bytes that may be written; default: 8GB, or a "
    "tenth\n"
    "#                   # of the free disk\n"
    "# classes = 3       # argument classes kept for each kernel\n"
    "# count = 2         # launches kept for each class\n"
    "# min-share = 1.0   # drop kernels with less percent of the time\n"
    "\n"
    "[remix]\n"
    "# budget = \"20m\"    # time of a whole search\n"
    "# space = \"full\"    # or \"applicable\", or \"thin\": some forty "
    "variants\n"
    "# patience = 500    # variants without a better one, then the next "
    "kernel\n"
    "\n"
    "# The generated search space. Each dimension takes a list of values, and\n"
    "# what is not named is not limited: maxnreg = [32, 64] (docs/SPACE.md).\n"
    "[space]\n"
    "# edits = 12        # of a pass pipeline, at most\n";

namespace {

Error wrongAt(const toml::node &Where, const std::string &Why) {
  return fail(ErrorCode::Damaged, "line %u: %s",
              unsigned(Where.source().begin.line), Why.c_str());
}

using Reader = std::function<Error(const toml::node &Value)>;

struct KeyRow {
  std::string_view Name;
  Reader Read;
};

/// Hands each value of a table to its row.
Error readTable(const toml::table &Table, const std::vector<KeyRow> &Rows) {
  std::vector<std::string_view> Names;
  for (const KeyRow &Row : Rows)
    Names.push_back(Row.Name);
  for (const auto &[Key, Value] : Table) {
    const KeyRow *Found = nullptr;
    for (const KeyRow &Row : Rows)
      if (Row.Name == Key.str())
        Found = &Row;
    if (!Found) {
      std::string Near = nearestName(Key.str(), Names);
      return wrongAt(Value,
                     "unknown key '" + std::string(Key.str()) + "'" +
                         (Near.empty() ? "" : " (did you mean " + Near + "?)"));
    }
    if (Error E = Found->Read(Value))
      return E;
  }
  return Error::success();
}

Reader count(std::optional<uint64_t> &Into) {
  return [&Into](const toml::node &Value) {
    auto Number = Value.value_exact<int64_t>();
    if (!Number || *Number < 1)
      return wrongAt(Value, "a number from 1 expected");
    Into = uint64_t(*Number);
    return Error::success();
  };
}

/// A text that Parse understands.
Reader text(std::optional<uint64_t> &Into,
            Expected<uint64_t> (*Parse)(std::string_view)) {
  return [&Into, Parse](const toml::node &Value) {
    auto Text = Value.value_exact<std::string>();
    if (!Text)
      return wrongAt(Value, "a text in quotes expected");
    auto Number = Parse(*Text);
    if (!Number)
      return wrongAt(Value, Number.error().message());
    Into = *Number;
    return Error::success();
  };
}

Reader choice(std::string &Into, const std::vector<std::string> &Allowed) {
  return [&Into, Allowed](const toml::node &Value) {
    auto Text = Value.value_exact<std::string>();
    if (!Text || !std::count(Allowed.begin(), Allowed.end(), *Text)) {
      std::string All;
      for (const std::string &One : Allowed)
        All += (All.empty() ? "\"" : " or \"") + One + "\"";
      return wrongAt(Value, All + " expected");
    }
    Into = *Text;
    return Error::success();
  };
}

Reader percent(std::optional<double> &Into) {
  return [&Into](const toml::node &Value) {
    auto Number = Value.value<double>();
    if (!Number || !(*Number >= 0 && *Number <= 100))
      return wrongAt(Value, "a number from 0 to 100 expected");
    Into = *Number;
    return Error::success();
  };
}

/// A value of a dimension, as a text.
Error takeValue(const toml::node &Value, std::vector<std::string> &Into) {
  if (auto Number = Value.value_exact<int64_t>())
    Into.push_back(std::to_string(*Number));
  else if (auto Text = Value.value_exact<std::string>())
    Into.push_back(*Text);
  else
    return wrongAt(Value, "a number or a text in quotes expected");
  return Error::success();
}

Reader edits(std::optional<size_t> &Into) {
  return [&Into](const toml::node &Value) {
    auto Number = Value.value_exact<int64_t>();
    if (!Number || *Number < 0 || *Number > int64_t(MostPassEdits))
      return wrongAt(Value,
                     format("a number from 0 to %zu expected", MostPassEdits));
    Into = size_t(*Number);
    return Error::success();
  };
}

/// The values of one dimension that a search may try.
Reader dimension(const std::string &Name, SpaceLimits &Limits) {
  return [Name, &Limits](const toml::node &Value) {
    const toml::array *List = Value.as_array();
    if (!List)
      return wrongAt(Value, "a list expected");
    SpaceLimits One;
    std::vector<std::string> &Values = One.Values[Name]; // none is a limit too
    for (const toml::node &Item : *List)
      if (Error E = takeValue(Item, Values))
        return E;
    if (Error E = checkLimits(One))
      return wrongAt(Value, E.message());
    Limits.Values[Name] = std::move(Values);
    return Error::success();
  };
}

/// Not readTable: who misspells a dimension is told all that there are.
Reader space(SpaceLimits &Limits) {
  return [&Limits](const toml::node &Value) {
    const toml::table *Table = Value.as_table();
    if (!Table)
      return wrongAt(Value, "a table expected");
    for (const auto &[Key, Item] : *Table) {
      const std::string Name(Key.str());
      Error E = Name == "edits" ? edits(Limits.Edits)(Item)
                                : dimension(Name, Limits)(Item);
      if (E)
        return E;
    }
    return Error::success();
  };
}

Reader table(const std::vector<KeyRow> &Rows) {
  return [&Rows](const toml::node &Value) {
    const toml::table *Table = Value.as_table();
    return Table ? readTable(*Table, Rows) : wrongAt(Value, "a table expected");
  };
}

} // namespace

const std::vector<std::string> &spaceNames() {
  static const std::vector<std::string> Names = {"full", "applicable", "thin"};
  return Names;
}

Expected<Config> Config::parse(const std::string &Toml,
                               const std::string &Name) {
  toml::parse_result Parsed = toml::parse(std::string_view(Toml));
  if (!Parsed)
    return fail(ErrorCode::Damaged, "%s: line %u: %s", Name.c_str(),
                unsigned(Parsed.error().source().begin.line),
                std::string(Parsed.error().description()).c_str());
  Config Result;
  const std::vector<KeyRow> Record = {
      {"limit", text(Result.RecordLimitBytes, parseSize)},
      {"classes", count(Result.RecordClasses)},
      {"count", count(Result.RecordCount)},
      {"min-share", percent(Result.RecordMinShare)}};
  const std::vector<KeyRow> Remix = {
      {"budget", text(Result.RemixBudgetMs, parseDuration)},
      {"space", choice(Result.RemixSpace, spaceNames())},
      {"patience", count(Result.RemixPatience)}};
  std::optional<uint64_t> Format;
  Error E = readTable(Parsed.table(), {{"format", count(Format)},
                                       {"record", table(Record)},
                                       {"remix", table(Remix)},
                                       {"space", space(Result.Space)}});
  // An empty file marks a root just as well.
  if (!E && Format.value_or(1) != 1)
    E = fail(ErrorCode::Stale, "format %llu, this r3 reads 1",
             static_cast<unsigned long long>(*Format));
  if (E)
    return E.in(Name);
  return Result;
}

} // namespace r3
