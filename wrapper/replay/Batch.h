// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch of launches that the device child queues as a whole: what the
// supervisor asks for and what comes back. Chunks are numbered as digests are
// (Plan.h).
#pragma once

#include "wrapper/replay/Footprint.h"

#include "runtime/support/Digest.h"
#include "runtime/support/Json.h"
#include "runtime/support/Measurement.h"
#include "runtime/support/Recording.h"

#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

/// A slot without code: the device's empty kernel, in the launch's shape.
inline constexpr char EmptySlot[] = "empty";

struct BatchRequest {
  size_t Launch = 0;
  /// In order; PoisonBytes: one a launch, filled into Where.
  std::vector<std::string> Slots;
  std::vector<uint64_t> PoisonBytes;
  Poison Where;
  CacheMode Mode = CacheMode::Cold;
  bool Flushes = true; // in cold mode
  /// Chunks that any of the launches changes: restored before each.
  IntervalSet Restored;
  /// As of a single launch (Runner.h); the ranges of Restored are among them.
  std::optional<std::vector<uint64_t>> Written;
  /// Chunks of which digests are taken after each.
  IntervalSet Digested;
  /// By range of the plan: F32 or F64 where its digested chunks are sketched
  /// (Sketch.h), too; Bytes and missing ones: they are not.
  std::vector<ValueType> Sketched;
  uint64_t SketchSeed = 0;

  std::string json() const;
  std::vector<uint8_t> blob() const;
  static Expected<BatchRequest> parse(const json::Value &Header,
                                      std::span<const uint8_t> Blob);
};

struct BatchTimes {
  std::vector<double> Us; // one a launch
  ClockSample Before, After;
  std::string ClocksUnread; // why there are none
  /// From the release of the device to the last event; by the host's clock, and
  /// that around nothing. Zero where the events are the host's clock anyway.
  double EventsUs = 0, HostUs = 0, EmptyHostUs = 0;

  /// Adds members to a reply; the other end.
  std::string json() const;
  static BatchTimes parse(const json::Value &Object);
};

/// At most Most intervals: the smallest gaps are filled.
IntervalSet coarsened(const IntervalSet &Set, size_t Most);

} // namespace r3::replay
