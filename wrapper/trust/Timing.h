// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From what the device reported to numbers that may be compared: which batches
// count, what one batch says, which cache mode decides, whether events and
// host agree, and what is too short to be timed. All times in microseconds.
//
// A batch is four launches, original and variant, in the order A B B A or
// B A A B as a coin says, and gives one ratio. That makes the batch the unit of
// MedianBound.h: where variant and original are equal, each ratio is above or
// below 1 as the coin fell, whatever the device's clock, temperature and
// neighbours do meanwhile and however long that lasts. Simulated for 200,000
// A/A runs of 16 batches each under a clock that wanders (autocorrelation 0.9),
// drifts ever faster, swings or settles, the bound was above 1 in 0.025 %,
// 0.033 %, 0.030 % and 0.028 % (0.026 % is exact). The two ratios of a batch
// share a coin and are no two values: where some batches have slow first and
// last launches, 32 ratios of 16 batches had a bound above 1 in 1.06 %.
#pragma once

#include "wrapper/trust/Floor.h"
#include "wrapper/trust/Verdict.h"

#include "runtime/support/Measurement.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace r3::trust {

using r3::Batch;
using r3::ClockSample;

/// Reasons that slow a device down: power cap, hardware slowdown, thermal
/// (software, hardware), power brake. Not: idle, clocks set by the user or
/// for a display, synchronised boost.
constexpr uint64_t ThrottleReasons = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
constexpr double ClockTolerance = 0.01;

/// The batches that count: neither sample throttled, and no clock 1 % or more
/// away from its other sample or from its median over the batches that were
/// not throttled.
std::vector<Batch> steadyBatches(std::span<const Batch> All);

/// Original / variant, SubtractUs taken off each time. Needs times above it.
double batchRatio(const Batch &B, double SubtractUs);

/// Times below this hold so much of a launch's own cost that it is subtracted.
constexpr double ShortUs = 20;

/// What to subtract from both times, or why they cannot be compared.
struct Resolution {
  double SubtractUs = 0;
  Judgement Result; // Ok or BelowResolution
};

/// ShorterUs: the smaller median of original and variant. EmptyUs: times of
/// an empty kernel of the same shape; not needed from ShortUs on, where
/// nothing is subtracted. Below, what remains must be 5 times the spread of
/// the empty launches (5th to 95th percentile) and 1 us, twice the resolution
/// of events. Then an error of one spread in what is subtracted changes a gain
/// by at most a fifth of itself, and never its sign.
Resolution resolve(double ShorterUs, std::span<const double> EmptyUs);

/// The times on the host around a batch, less those around an empty one,
/// against the events: within 20 us + 5 %. Empty text: they agree.
std::string compareWithHost(double EventsUs, double HostUs, double EmptyHostUs);

/// The mode in which the original takes nearly as long as in the program.
struct ModeChoice {
  CacheMode Mode = CacheMode::Cold;
  std::string Warning; // "replay time not representative ...", or empty
};

/// Nearest by ratio; the warning where neither is within 25 % of ProgramUs.
/// All three are positive.
ModeChoice chooseMode(double ProgramUs, double ColdUs, double WarmUs);

} // namespace r3::trust
