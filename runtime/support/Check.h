// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The named checks of an evaluation (table: Check.def).
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <set>
#include <string>
#include <string_view>

namespace r3 {

enum class Check {
#define R3_CHECK(Enumerator, Name, InSearch, Description) Enumerator,
#include "runtime/support/Check.def"
};

using CheckSet = std::set<Check>;

std::string_view checkName(Check Value);
std::string_view checkDescription(Check Value);
Expected<Check> parseCheck(std::string_view Name);

/// What a search asks for, which only ranks, and what acceptance asks for.
const CheckSet &searchChecks();
const CheckSet &gateChecks();

/// What came of one.
struct CheckResult {
  Check What;
  bool Made = true; // false: it does not apply; Message says why
  Outcome Result = Outcome::Ok;
  std::string Message; // what was found, or how far the check went
  double Ms = 0;
};

} // namespace r3
