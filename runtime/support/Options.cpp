// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table as data, and the environment parsed against it. This is the only
// file that calls getenv or reads environ.
#include "runtime/support/Options.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <iterator>
#include <unistd.h>

namespace r3 {

static constexpr OptionRow Variables[] = {
#define R3_VARIABLE(Name, Type, Default, Reader, Help)                         \
  {#Name, #Type, Default, Reader, Help},
#include "runtime/support/Options.def"
};

static constexpr OptionRow Flags[] = {
#define R3_FLAG(Flag, Type, Default, Reader, Help)                             \
  {#Flag, #Type, Default, Reader, Help},
#include "runtime/support/Options.def"
};

std::span<const OptionRow> variableTable() { return Variables; }
std::span<const OptionRow> flagTable() { return Flags; }

namespace {
struct Suffix {
  std::string_view Name;
  uint64_t Factor;
};
} // namespace

/// Digits, then one of Suffixes (the first has the empty name).
static Expected<uint64_t> parseScaled(std::string_view Text,
                                      std::span<const Suffix> Suffixes,
                                      const char *What) {
  uint64_t Value = 0;
  size_t At = 0;
  bool Overflow = false;
  for (; At != Text.size() && Text[At] >= '0' && Text[At] <= '9'; ++At)
    Overflow |= __builtin_mul_overflow(Value, 10, &Value) ||
                __builtin_add_overflow(Value, Text[At] - '0', &Value);
  std::string_view Rest = Text.substr(At);
  auto Found = std::find_if(Suffixes.begin(), Suffixes.end(),
                            [&](const Suffix &S) { return S.Name == Rest; });
  if (At == 0 || Found == Suffixes.end())
    return fail(ErrorCode::Usage, "'%.*s' is not a %s", int(Text.size()),
                Text.data(), What);
  if (Overflow || __builtin_mul_overflow(Value, Found->Factor, &Value))
    return fail(ErrorCode::Usage, "'%.*s' is too large a %s", int(Text.size()),
                Text.data(), What);
  return Value;
}

static Expected<uint64_t> parseCount(std::string_view Text) {
  static constexpr Suffix Suffixes[] = {{"", 1}};
  return parseScaled(Text, Suffixes, "natural number");
}

Expected<uint64_t> parseSize(std::string_view Text) {
  static constexpr uint64_t K = 1024;
  static constexpr Suffix Suffixes[] = {{"", 1},
                                        {"B", 1},
                                        {"K", K},
                                        {"KB", K},
                                        {"M", K * K},
                                        {"MB", K * K},
                                        {"G", K * K * K},
                                        {"GB", K * K * K},
                                        {"T", K * K * K * K},
                                        {"TB", K * K * K * K}};
  return parseScaled(Text, Suffixes, "size (such as 512M or 8GB)");
}

static constexpr Suffix Durations[] = {{"", 1000},     {"ms", 1},
                                       {"s", 1000},    {"m", 60000},
                                       {"h", 3600000}, {"d", 86400000}};

Expected<uint64_t> parseDuration(std::string_view Text) {
  return parseScaled(Text, Durations, "duration (such as 90s, 20m, 2h or 30d)");
}

static Expected<uint64_t> parseMilliseconds(std::string_view Text) {
  // In the environment a bare number is what the type says.
  if (Text.find_first_not_of("0123456789") == std::string_view::npos)
    return parseCount(Text);
  return parseDuration(Text);
}

static Expected<uint64_t> parseBoolean(std::string_view Text) {
  for (std::string_view Yes : {"1", "true", "yes", "on"})
    if (Text == Yes)
      return uint64_t(1);
  for (std::string_view No : {"0", "false", "no", "off"})
    if (Text == No)
      return uint64_t(0);
  return fail(ErrorCode::Usage, "'%.*s' is neither 0 nor 1", int(Text.size()),
              Text.data());
}

/// The number of a value; 0 for types that are texts.
static Expected<uint64_t> parseValue(std::string_view Type,
                                     std::string_view Text) {
  if (Type == "boolean")
    return parseBoolean(Text);
  if (Type == "count")
    return parseCount(Text);
  if (Type == "size")
    return parseSize(Text);
  if (Type == "milliseconds")
    return parseMilliseconds(Text);
  assert(Type == "text" || Type == "path" || Type == "names");
  return uint64_t(0);
}

static size_t editDistance(std::string_view A, std::string_view B) {
  std::vector<size_t> Row(B.size() + 1);
  for (size_t J = 0; J != Row.size(); ++J)
    Row[J] = J;
  for (size_t I = 1; I <= A.size(); ++I) {
    size_t Diagonal = Row[0];
    Row[0] = I;
    for (size_t J = 1; J <= B.size(); ++J) {
      size_t Replace = Diagonal + (A[I - 1] != B[J - 1]);
      Diagonal = Row[J];
      Row[J] = std::min({Replace, Row[J] + 1, Row[J - 1] + 1});
    }
  }
  return Row[B.size()];
}

std::string nearestName(std::string_view Name,
                        std::span<const std::string_view> Candidates) {
  std::string_view Best;
  size_t BestDistance = std::max<size_t>(2, Name.size() / 3) + 1;
  for (std::string_view Candidate : Candidates) {
    size_t Distance = editDistance(Name, Candidate);
    if (Distance < BestDistance) {
      Best = Candidate;
      BestDistance = Distance;
    }
  }
  return std::string(Best);
}

static Error unknownVariable(std::string_view Name) {
  std::vector<std::string_view> Known;
  for (const OptionRow &Row : Variables)
    Known.push_back(Row.Name);
  std::string Near = nearestName(Name, Known);
  std::string Hint = Near.empty() ? "" : " (did you mean " + Near + "?)";
  return fail(ErrorCode::Usage, "unknown variable %.*s%s", int(Name.size()),
              Name.data(), Hint.c_str());
}

Expected<Environment> Environment::read() {
  std::vector<std::string> Strings;
  for (char **At = environ; At && *At; ++At)
    if (std::string_view(*At).starts_with("R3_"))
      Strings.emplace_back(*At);
  return parse(Strings);
}

Expected<Environment> Environment::parse(std::span<const std::string> Strings) {
  Environment Result;
  for (const OptionRow &Row : Variables) {
    Expected<uint64_t> Number = parseValue(Row.Type, Row.Default);
    assert(Number && "a default in Options.def is malformed");
    Result.Settings.push_back({std::string(Row.Default), *Number, false});
  }
  for (const std::string &String : Strings) {
    if (!String.starts_with("R3_"))
      continue;
    size_t Equal = String.find('=');
    std::string_view Name = std::string_view(String).substr(0, Equal);
    size_t Index = Result.index(Name);
    if (Index == std::size(Variables))
      return unknownVariable(Name);
    std::string Text =
        Equal == std::string::npos ? "" : String.substr(Equal + 1);
    if (Text.empty()) // "NAME=" is how a shell unsets for one command
      continue;
    Expected<uint64_t> Number = parseValue(Variables[Index].Type, Text);
    if (!Number)
      return Number.error().in(std::string(Name));
    Result.Settings[Index] = {std::move(Text), *Number, true};
  }
  return Result;
}

size_t Environment::index(std::string_view Name) const {
  size_t I = 0;
  while (I != std::size(Variables) && Variables[I].Name != Name)
    ++I;
  return I;
}

const std::string &Environment::text(std::string_view Name) const {
  size_t I = index(Name);
  assert(I != std::size(Variables) && "not in Options.def");
  return Settings[I].Text;
}

uint64_t Environment::number(std::string_view Name) const {
  size_t I = index(Name);
  assert(I != std::size(Variables) && "not in Options.def");
  return Settings[I].Number;
}

bool Environment::flag(std::string_view Name) const { return number(Name); }

std::vector<std::string> Environment::names(std::string_view Name) const {
  std::vector<std::string> Result;
  std::string_view Rest = text(Name);
  while (!Rest.empty()) {
    size_t Comma = std::min(Rest.find(','), Rest.size());
    if (Comma)
      Result.emplace_back(Rest.substr(0, Comma));
    Rest.remove_prefix(std::min(Comma + 1, Rest.size()));
  }
  return Result;
}

bool Environment::isSet(std::string_view Name) const {
  size_t I = index(Name);
  assert(I != std::size(Variables) && "not in Options.def");
  return Settings[I].Set;
}

std::optional<std::string> systemVariable(const std::string &Name) {
  const char *Value = std::getenv(Name.c_str());
  return Value ? std::optional<std::string>(Value) : std::nullopt;
}

std::vector<std::string> inheritedEnvironment() {
  std::vector<std::string> Strings;
  for (char **At = environ; At && *At; ++At)
    Strings.emplace_back(*At);
  return Strings;
}

} // namespace r3
