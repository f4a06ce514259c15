// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a recorded run left in the store, and the recordings of cold kernels
// taken out of it again. Used by r3 record after the program has ended, or was
// killed: everything here comes from files.
#pragma once

#include "runtime/support/RunStats.h"
#include "runtime/support/Store.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace r3 {

/// One kernel over all processes of a run.
struct RecordedKernel {
  std::string Key, Name;
  double TotalNs = 0, Share = 0; // 0..1
  uint64_t Launches = 0, Sampled = 0, Recorded = 0, Bytes = 0, PauseNs = 0;
  uint64_t ReasonCount = 0;
  std::string Reason;   // the last one: "not-quiet: the device did not ..."
  uint64_t Dropped = 0; // recordings that were cold
};

struct RecordedRun {
  std::vector<RecordedKernel> Kernels; // largest share first
  std::string Backend;
  size_t Processes = 0;
  std::vector<std::string> Damaged;
  uint64_t StartedAtNs = 0, LastUpdateNs = 0;
};

RecordedRun readRecordedRun(const Store &From, const std::string &RunId);

/// Removes the recordings made since Before (paths) of kernels with less than
/// MinShare of the run's time, and packs that nothing refers to any more.
/// Kernels that another run of the same time also counts are left alone.
Error dropCold(const Store &From, const std::string &RunId,
               const std::set<std::string> &Before,
               const std::set<std::string> &PacksBefore, double MinShare,
               RecordedRun &Run);

/// Paths of the packs of a store.
std::set<std::string> listPacks(const Store &From);

} // namespace r3
