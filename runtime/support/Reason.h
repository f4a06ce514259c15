// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stable reason codes of the recorder and the plugin (table: Reason.def).
#pragma once

#include "runtime/support/Error.h"

#include <string_view>

namespace r3 {

enum class Reason {
#define R3_REASON(Enumerator, Name, Description) Enumerator,
#include "runtime/support/Reason.def"
};

std::string_view reasonName(Reason Value);
std::string_view reasonDescription(Reason Value);
Expected<Reason> parseReason(std::string_view Name);

} // namespace r3
