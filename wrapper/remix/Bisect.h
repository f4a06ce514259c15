// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a variant that is not right to the run of a pass that makes it so. A
// pipeline runs some passes many times, on one function or loop after the
// other; with the first N of these runs the variant is right, with one more it
// is not. N is found by halving, as with LLVM's -opt-bisect-limit: where the
// results change back and forth along the runs, it is one such place of
// several.
#pragma once

#include "wrapper/remix/Search.h"

#include <atomic>
#include <functional>
#include <string>

namespace r3 {

struct BisectReport {
  Outcome Result = Outcome::Ok; // of the variant as it is
  std::string Message;
  /// The pass is at fault: run number Run of Runs (0: unknown, since the build
  /// does not end) of Pass on Place. Run 0: it is not right without any pass
  /// that can be left out, either.
  uint64_t Run = 0, Runs = 0;
  std::string Pass, Place;    // "licm", "loop %for.body in function k"
  Outcome With = Outcome::Ok; // with that run, and none after it
  std::string WithMessage;
  size_t Evaluations = 0;
};

/// Told before each evaluation how many runs are still in question.
using BisectProgress = std::function<void(uint64_t Left)>;

/// Kernel: with the recordings to replay. Fails where the variant is right, no
/// recording replays, no worker can be used, or Stop was set.
Expected<BisectReport> bisect(const EvaluatorSource &Source,
                              const std::atomic<bool> &Stop,
                              const SearchKernel &Kernel, const Variant &Change,
                              const BisectProgress &Tell);

} // namespace r3
