// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and descriptions of outcomes, from their table.
#include "runtime/support/Outcome.h"

#include <iterator>

namespace r3 {

namespace {
struct Row {
  std::string_view Name, Description;
};
} // namespace

static constexpr Row Rows[] = {
#define R3_OUTCOME(Enumerator, Name, Description) {Name, Description},
#include "runtime/support/Outcome.def"
};

std::string_view outcomeName(Outcome Value) { return Rows[size_t(Value)].Name; }

std::string_view outcomeDescription(Outcome Value) {
  return Rows[size_t(Value)].Description;
}

Expected<Outcome> parseOutcome(std::string_view Name) {
  for (size_t I = 0; I != std::size(Rows); ++I)
    if (Rows[I].Name == Name)
      return Outcome(I);
  return fail(ErrorCode::Damaged, "unknown outcome '%.*s'", int(Name.size()),
              Name.data());
}

} // namespace r3
