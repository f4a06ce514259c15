// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 remix --plan: what a search would do and spend, and what the journal knows
// of it already. Nothing is written and nothing evaluated; originals are
// replayed where the headroom is not known otherwise.
#pragma once

#include "wrapper/r3/Command.h"
#include "wrapper/remix/Search.h"

namespace r3 {

/// A kernel as the search takes it, and what the gate sees of it.
struct PlannedKernel {
  const SearchKernel *Kernel = nullptr;
  size_t Held = 0, Classes = 0; // recordings that only the gate sees; of all
  std::optional<size_t> Points; // of the space; none: more than are counted
  std::vector<std::pair<std::string, size_t>> Dimensions;
  size_t Known = 0; // evaluations that the journal holds for these recordings
  std::optional<Evaluation> Best;         // of them
  uint64_t BudgetMs = 0, Evaluations = 0; // of what is left
};

struct SearchPlan {
  DeviceIdentity Device;
  unsigned Compilers = 0; // of the worker
  Session State;          // Resumed: it was begun before
  uint64_t Patience = 0;
  std::vector<PlannedKernel> Kernels; // in order

  /// Log: null where no search was made. GateSees: one a kernel.
  static Expected<SearchPlan>
  make(const std::vector<SearchKernel> &Kernels,
       const std::vector<std::vector<SearchRecording>> &GateSees,
       const SearchOptions &Options, const Evaluator &Worker, Journal *Log);

  void print(Context &Given) const;
  void printJson(Context &Given) const;
};

} // namespace r3
