// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named endings of an evaluation (table: Outcome.def).
#pragma once

#include "runtime/support/Error.h"

#include <string_view>

namespace r3 {

enum class Outcome {
#define R3_OUTCOME(Enumerator, Name, Description) Enumerator,
#include "runtime/support/Outcome.def"
};

std::string_view outcomeName(Outcome Value);
std::string_view outcomeDescription(Outcome Value);
Expected<Outcome> parseOutcome(std::string_view Name);

} // namespace r3
