// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options of LLVM (runtime/support/LlvmOptions.def) that have other values
// while this lives. They are globals of LLVM: two of these in one process wait
// for each other.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/Support/CommandLine.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace r3::ir {

class ScopedOptions {
public:
  ScopedOptions() = default;
  ~ScopedOptions();
  ScopedOptions(const ScopedOptions &) = delete;
  ScopedOptions &operator=(const ScopedOptions &) = delete;

  /// Once. What the process was itself started with (-mllvm) is not changed:
  /// an error.
  Error set(const std::map<std::string, int64_t> &Values);

private:
  std::unique_lock<std::mutex> Lock;
  std::vector<llvm::cl::Option *> Changed;
};

} // namespace r3::ir
