// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a winner to the few changes that carry its gain. A variant is taken
// apart into changes: edits of the pass pipeline of the unit's own level, code
// generation level, register limit, ptxas level, launch rules and constants.
// Delta debugging (DeltaDebugging.h) leaves out what the gain does not need. A
// source change stays whole, and guards stay as long as there is something
// that may rely on them: recordings prove no fact.
//
// What is left must be right, and the median of its ratios may be below the
// winner's by noise only; both are measured in one run, the smaller one twice.
// A binary that is the winner's is not measured, and one that was seen before
// is answered from the journal. Everything that was evaluated is there, as
// variants of the origin "minimised", so that a run that was stopped goes on.
#pragma once

#include "wrapper/remix/Search.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace r3 {

struct MinimiseOptions {
  uint64_t BudgetMs = 10 * 60 * 1000; // over all runs
  uint64_t MaxEvaluations = 0;        // that need a worker; 0: no limit
  unsigned Pairs = 16;
  unsigned Repetitions = 3; // of the original, before anything is tried
  uint64_t Seed = 0;
};

struct MinimiseReport {
  /// What is left, with what the journal has of it; the winner's own where
  /// nothing could be left out.
  Evaluation Smallest;
  std::vector<std::string> Kept, Dropped; // changes, for people
  RatioSpread Winner;                     // measured again
  double Bar = 0;                         // the least median that was enough
  size_t Evaluations = 0;                 // by a worker
  size_t Answered = 0; // by the journal, or the winner's own binary
  /// Why nothing proves yet that no single change can be left out; empty:
  /// that was tried.
  std::string Unfinished;
  bool Interrupted = false;
};

/// Told before each evaluation: how many changes there are, and are left.
using MinimiseProgress = std::function<void(size_t All, size_t Left)>;

/// Kernel: with the recordings that the search sees. Winner: from the journal,
/// right and evaluated on the device that Source gives. Fails where the gain is
/// not above noise, where no worker can be used, or the journal cannot be
/// written.
Expected<MinimiseReport>
minimise(Journal &Log, const EvaluatorSource &Source, const Clock &Now,
         const std::atomic<bool> &Stop, const SearchKernel &Kernel,
         const Evaluation &Winner, const MinimiseOptions &Options,
         const MinimiseProgress &Tell);

} // namespace r3
