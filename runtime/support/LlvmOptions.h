// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of LLVM's options that a variant may set, LlvmOptions.def. A flag
// is a number of 0 or 1.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace r3 {

struct LlvmOption {
  std::string_view Name;
  int64_t Least, Most;
  std::vector<int64_t> Values; // that a search tries

  bool isFlag() const { return Least == 0 && Most == 1; }
};

std::span<const LlvmOption> llvmOptions();
/// Null for other names.
const LlvmOption *findLlvmOption(std::string_view Name);
/// Whether a variant may set this; Damaged, with what it may, where not.
Error checkLlvmOption(std::string_view Name, int64_t Value);

} // namespace r3
