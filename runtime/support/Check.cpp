// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names, descriptions and sets of checks, from their table.
#include "runtime/support/Check.h"

#include <iterator>

namespace r3 {

namespace {
struct Row {
  std::string_view Name, Description;
  bool InSearch;
};
} // namespace

static constexpr Row Rows[] = {
#define R3_CHECK(Enumerator, Name, InSearch, Description)                      \
  {Name, Description, InSearch},
#include "runtime/support/Check.def"
};

std::string_view checkName(Check Value) { return Rows[size_t(Value)].Name; }

std::string_view checkDescription(Check Value) {
  return Rows[size_t(Value)].Description;
}

Expected<Check> parseCheck(std::string_view Name) {
  for (size_t I = 0; I != std::size(Rows); ++I)
    if (Rows[I].Name == Name)
      return Check(I);
  return fail(ErrorCode::Damaged, "unknown check '%.*s'", int(Name.size()),
              Name.data());
}

static CheckSet setOf(bool SearchOnly) {
  CheckSet Result;
  for (size_t I = 0; I != std::size(Rows); ++I)
    if (Rows[I].InSearch || !SearchOnly)
      Result.insert(Check(I));
  return Result;
}

const CheckSet &searchChecks() {
  static const CheckSet Set = setOf(/*SearchOnly=*/true);
  return Set;
}

const CheckSet &gateChecks() {
  static const CheckSet Set = setOf(/*SearchOnly=*/false);
  return Set;
}

} // namespace r3
