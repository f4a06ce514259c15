// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the checks by compute-sanitizer share: how a device child is started
// under it, and what it means by what it prints.
#pragma once

#include "wrapper/replay/DeviceLink.h"
#include "wrapper/trust/Verdict.h"

#include <chrono>
#include <string>
#include <vector>

namespace r3::replay {

constexpr unsigned SanitizedSlower = 100; // than others may take
/// How long the tool may take to end behind its program.
constexpr std::chrono::seconds SanitizerPatience(30);
inline constexpr char NoSanitizer[] =
    "no compute-sanitizer in $CUDA_PATH/bin, PATH or /usr/local/cuda/bin";

/// What starts a device child under Tool, which looks at Kernel alone; empty
/// where there is none.
std::vector<std::string> underSanitizer(const std::string &Tool,
                                        const std::string &Kernel);
/// The verdict by all that the tool and its program have printed, and by how
/// the last launch ended. NotMade: why there is none.
trust::Judgement judgeSanitizer(const std::string &Tool,
                                const std::string &Output, const Attempt &Last,
                                std::string &NotMade);

/// What came of several tools that one check consists of.
struct ToolsReport {
  std::string Made; // their names
  std::string Left; // those that were left out, and why

  /// WhyNot: empty where Tool has found nothing.
  void add(const std::string &Tool, const std::string &WhyNot);
  /// Made, then More, then Left.
  std::string text(const std::string &More = "") const;
};

} // namespace r3::replay
