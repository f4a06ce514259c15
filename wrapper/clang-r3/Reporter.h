// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What clang-r3 itself says. Each reason is said once a build, though a build
// is many processes: the build is the outermost make, ninja or the like above
// this process. Every occurrence is counted, as a line in the store's
// cache/clang-r3.log, where the project has an r3.toml.
#pragma once

#include "wrapper/clang-r3/Arguments.h"

#include <string>

namespace r3::clangr3 {

class Reporter {
public:
  /// Store: folder of the store, empty: nothing is counted.
  Reporter(const CommandLine &Line, std::string Store);

  /// "clang-r3: warning: TEXT [-Wr3-REASON]", or an error with --r3-strict.
  void warn(const std::string &Reason, const std::string &Text);
  /// A warning was made an error.
  bool failed() const { return Failed; }

private:
  const CommandLine &Line;
  std::string Store;
  bool Failed = false;
};

/// Pid and start time of the outermost build tool above this process, or of
/// its parent where there is none.
std::string buildIdentity();

/// True for the first caller with this key; Folder remembers it.
bool isFirst(const std::string &Folder, const std::string &Key);

} // namespace r3::clangr3
