// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of the program as the recorder sees it: what it is, its function
// attributes, its policy, and its line in the run's statistics.
#pragma once

#include "runtime/record/Policy.h"
#include "runtime/record/Units.h"
#include "runtime/support/Reason.h"
#include "runtime/support/RunStats.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace r3::record {

/// The manifest that holds a place of the policy; written by saver threads.
struct KeptRecording {
  std::mutex Lock;
  std::string Id; // empty: none yet
};

struct KernelState {
  // Set when the kernel is attached.
  const void *Handle = nullptr;
  std::string Name;
  const R3UnitTable *Table = nullptr;

  /// Guards what follows.
  std::mutex Lock;

  // Function attributes that the program has set.
  uint32_t MaxDynamicShared = 0;
  uint32_t Carveout = 0xffffffffu;
  uint8_t CacheConfig = 0;

  // Set at the first launch.
  LoadedUnit *Unit = nullptr;       // null: no descriptor
  const UnitKernel *Info = nullptr; // null: not in the descriptor
  const UnitModule *Module = nullptr;
  const KernelCode *Code = nullptr; // for the device's architecture
  Reason Refused = Reason::None;    // never recorded, for this
  std::optional<Policy> Choice;
  uint32_t Slot = RunStatsWriter::MaxKernels;
  KernelRunStats Stats;
  uint64_t Said = 0; // a bit for each reason that was told
  /// The only time known is that of the first launch, which includes loading
  /// the kernel's code; it goes when another is known.
  bool OnlyCold = false;
  void addTime(uint64_t Ns, bool Cold);
  std::map<uint64_t, std::shared_ptr<KeptRecording>> Kept; // class, slot
};

} // namespace r3::record
