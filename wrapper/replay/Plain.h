// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch in plain memory: each recorded allocation is one of the driver's
// own, of exactly the recorded size, wherever the driver puts it. That is what
// tools see through that know nothing of mapped memory. Addresses in the
// arguments move along; memory must hold none.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Intervals.h"

#include <cstdint>
#include <span>
#include <vector>

namespace r3::replay {

/// What is known of a launch of a plan beside the plan. Ranges are numbered as
/// there; guards are not made.
struct PlainLaunch {
  /// Words of the arguments that are addresses in a range, or its end.
  struct Word {
    uint64_t Offset = 0;
    uint64_t Range = 0;
  };
  std::vector<Word> Words;
  /// What is copied into each range before the launch; the rest of it stays as
  /// the driver gives it, and counts as never written.
  std::vector<IntervalSet> Filled;

  std::vector<uint8_t> serialize() const;
  static Expected<PlainLaunch> parse(std::span<const uint8_t> Bytes);
};

/// What the driver's allocations are aligned to.
inline constexpr uint64_t PlainAlignment = 256;

} // namespace r3::replay
