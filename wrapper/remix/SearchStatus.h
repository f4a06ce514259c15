// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search does, in a file that others read while it runs and after it:
//   {format: 1, pid, pidStart, host, phase: "searching" | "confirming" |
//    "ended", ending: text, device, backend, startedAt, updatedAt (seconds
//    since 1970), spentMs, budgetMs, evaluations, maxEvaluations (0: no limit),
//    perSecond, leftMs, kernelsToSearch, kernels: [{name, tried, outcomes:
//    {name: count}, best: {note, median, low, high}}]}
// kernels: those that had their turn; the last one has it. best is missing
// where there is none. The file is replaced as a whole, so that a reader sees
// one moment.
#pragma once

#include "runtime/support/Json.h"
#include "wrapper/remix/Statistics.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace r3 {

struct KernelStatus {
  std::string Name;
  uint64_t Tried = 0;
  std::map<std::string, uint64_t> Outcomes;
  std::string BestNote; // empty: there is none
  RatioSpread Best;
};

struct SearchStatus {
  uint64_t Pid = 0, PidStart = 0; // see processStart
  std::string Host;
  std::string Phase = "searching";
  std::string Ending; // how it ended, for people
  std::string Device, Backend;
  uint64_t StartedAt = 0, UpdatedAt = 0;
  uint64_t SpentMs = 0, BudgetMs = 0;
  uint64_t Evaluations = 0, MaxEvaluations = 0;
  double PerSecond = 0; // variants, in this run
  uint64_t LeftMs = 0;  // at most, at this rate
  uint64_t KernelsToSearch = 0;
  std::vector<KernelStatus> Kernels;

  /// Of this process.
  static SearchStatus own();

  /// NotFound where no search has run; Damaged, Stale for another format.
  static Expected<SearchStatus> read(const std::string &Path);
  Error write(const std::string &Path) const;
  /// The members of the file, into an object that is open.
  void writeMembers(json::PrettyWriter &W) const;

  /// Of a process on another machine nothing is known but when it last wrote.
  enum class Life { Running, Gone, Elsewhere };
  Life life() const;
};

} // namespace r3
