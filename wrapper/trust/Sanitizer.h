// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What compute-sanitizer prints (Compute Sanitizer manual, CUDA 13): lines that
// begin with "=========", a summary last.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace r3::trust {

struct SanitizerReport {
  unsigned Findings = 0; // errors, or hazards of any severity
  std::string First;     // the first one with place and thread, on one line
};

/// Nothing where there is no summary: the tool has not come to its end.
std::optional<SanitizerReport> readSanitizerReport(std::string_view Output);

} // namespace r3::trust
