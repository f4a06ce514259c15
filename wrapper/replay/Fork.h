// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a piece of work in a forked copy of this process, with limits: LLVM
// aborts on some pipelines, loops on others, and keeps global state.
#pragma once

#include "plugin/ir/PassCounter.h"
#include "runtime/support/Error.h"
#include "runtime/support/Outcome.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace r3::replay {

struct ForkLimits {
  uint64_t DeadlineMs = 20000; // wall clock
  uint64_t CpuSeconds = 20;
  uint64_t MemoryBytes = 4ull << 30; // address space
};

/// What the work gives back.
struct ForkProduct {
  std::vector<uint8_t> Bytes;
  std::vector<std::string> Sites, Unseen; // of a traced build
  std::vector<uint64_t> Numbers;          // of it
  ir::PassCounter Passes;                 // where they were counted
  std::string Ir;                         // digest, where it was asked for
  std::string SameAs; // the binary that it is known to give; Bytes are empty
  std::map<std::string, double> Ms;
};

struct ForkResult {
  Outcome Ending = Outcome::Ok; // Build* of Outcome.def where it is not Ok
  std::string Message;
  ForkProduct Product;
};

/// The process must have one thread. Work runs in the child; its error becomes
/// BuildFailed, its death BuildCrashed with what it wrote to stderr, a passed
/// limit BuildTimeout.
ForkResult runForked(const ForkLimits &Limits,
                     const std::function<Expected<ForkProduct>()> &Work);

} // namespace r3::replay
