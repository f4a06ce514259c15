// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3.toml: its place is the project's root, its content the project's defaults
// for commands. An option of a command wins over an R3_ variable, and that over
// r3.toml.
//   format = 1
//   [record]
//   limit = "8GB"   classes = 3   count = 2   min-share = 1.0
//   [remix]
//   budget = "20m"   space = "full"   patience = 500
//   [space]                     limits of it, see docs/SPACE.md
//   edits = 4   maxnreg = [32, 64]   passes = ["licm"]
// All but the format may be left out; unknown keys are errors.
#pragma once

#include "runtime/support/Error.h"
#include "wrapper/remix/space/Dimensions.h"

#include <cstdint>
#include <optional>
#include <string>

namespace r3 {

struct Config {
  std::optional<uint64_t> RecordLimitBytes, RecordClasses, RecordCount;
  std::optional<double> RecordMinShare; // percent
  std::optional<uint64_t> RemixBudgetMs, RemixPatience;
  std::string RemixSpace; // one of spaceNames(), or empty: not said
  SpaceLimits Space;

  /// Name is used in messages ("FILE: line 3: ...").
  static Expected<Config> parse(const std::string &Toml,
                                const std::string &Name);
};

/// What `r3 remix` can search: "full" first.
const std::vector<std::string> &spaceNames();

/// What r3 init writes: every key, with its default, commented out.
extern const char *const ConfigTemplate;

} // namespace r3
