// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and descriptions of reason codes, from their table.
#include "runtime/support/Reason.h"

#include <iterator>

namespace r3 {

namespace {
struct Row {
  std::string_view Name, Description;
};
} // namespace

static constexpr Row Rows[] = {
#define R3_REASON(Enumerator, Name, Description) {Name, Description},
#include "runtime/support/Reason.def"
};

std::string_view reasonName(Reason Value) { return Rows[size_t(Value)].Name; }

std::string_view reasonDescription(Reason Value) {
  return Rows[size_t(Value)].Description;
}

Expected<Reason> parseReason(std::string_view Name) {
  for (size_t I = 0; I != std::size(Rows); ++I)
    if (Rows[I].Name == Name)
      return Reason(I);
  return fail(ErrorCode::Damaged, "unknown reason '%.*s'", int(Name.size()),
              Name.data());
}

} // namespace r3
