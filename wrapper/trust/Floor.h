// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time below which a launch cannot honestly be: an empty launch, and the
// longest of what memory, the L2 cache and the arithmetic units need. Bytes
// are those of the original's exact footprint in whole sectors, each counted
// once: whatever is right must move them. Operations are those that the code
// itself makes, not the original: an edit may find a way that needs fewer, and
// below its own no code can run. Rates are the device's own, measured, for
// float, double and smaller types apart; each type has units of its own or
// shares them, so the longest of the three is a bound either way. A time below
// 0.9 floors is a flag that calls for the full gate, not a verdict: a rate may
// have been measured low.
#pragma once

#include "runtime/support/Intervals.h"
#include "runtime/support/Measurement.h"

#include <cstdint>

namespace r3::trust {

using r3::CacheMode;

constexpr uint64_t SectorBytes = 32;
constexpr double FloorFraction = 0.9;

/// Bytes of all sectors that the set touches.
uint64_t bytesInSectors(const IntervalSet &Set);

/// What one launch must do. Operations: none where they are not known.
struct Work {
  uint64_t ReadBytes = 0, WriteBytes = 0; // in sectors
  Operations Counted;
};

/// By: what needs the longest, "memory", "the L2 cache", "float arithmetic",
/// "double arithmetic", "half arithmetic"; else "an empty launch".
struct Floor {
  double Us = 0;
  const char *By = "an empty launch";
};

/// EmptyLaunchUs + max((cold R + max(0, W - L2)) / memory, (R + W) / L2,
/// flops / peak). Cold R is all of R after a flush, and what the L2 cache
/// cannot hold of it where it is warm. 1 GB/s is 1,000 bytes/us, 1 TFLOP/s is
/// 1,000,000 flops/us. A rate of 0 is not known and bounds nothing.
Floor floorOf(const Work &Launch, const RatesReport &Rates, CacheMode Mode);

/// Faster than 0.9 floors.
bool isBelowFloor(double TimeUs, double FloorUs);

} // namespace r3::trust
