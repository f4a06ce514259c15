// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a worker reports of the time of launches: numbers as the device gave
// them. What they mean is for wrapper/trust/ to say. All times in microseconds.
#pragma once

#include "runtime/support/Outcome.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace r3 {

/// Cold: caches hold other memory when a launch begins. Warm: what an untimed
/// launch right before it and the restoring of memory have left in them.
enum class CacheMode { Cold, Warm };

/// Read while the device works: an idle device has other clocks. Zero: there
/// are no such clocks, or they cannot be read (a reason goes with it).
struct ClockSample {
  double SmMhz = 0, MemoryMhz = 0;
  uint64_t Reasons = 0; // as NVML gives them ("clocks event reasons")
};

/// Four launches, original and variant in the order A B B A or B A A B, queued
/// as one.
struct Batch {
  ClockSample Before, After;
  std::array<double, 2> OriginalUs{}, VariantUs{};
  uint32_t Process = 0; // the child in which it ran; set by who asks several
};

struct MeasurementReport {
  Outcome Result = Outcome::Ok;
  std::string Message;
  std::string Code; // digest of the variant's binary
  std::vector<Batch> Batches;
  /// Launches of an empty kernel of the same shape in the same cache mode;
  /// measured only where a launch is so short that it matters.
  std::vector<double> EmptyUs;
  double SubtractUs = 0; // from each time
  std::string
      ClocksUnread;        // why all clock samples are zero; empty: they aren't
  std::string HostWarning; // the host's clock contradicts the device's events
  std::map<std::string, double> Ms;
};

/// What a device can do at most, measured; 0: not known. Bytes and operations
/// (a multiply-add is two) per microsecond.
struct RatesReport {
  double EmptyLaunchUs = 0;
  double MemoryBytesPerUs = 0, L2BytesPerUs = 0;
  double FloatFlopsPerUs = 0, DoubleFlopsPerUs = 0, HalfFlopsPerUs = 0;
  uint64_t L2Bytes = 0;
};

/// Floating-point operations of one launch; a fused multiply-add is two. Half:
/// of 16-bit types.
struct Operations {
  uint64_t Float = 0, Double = 0, Half = 0;
  bool operator==(const Operations &) const = default;
};

/// Below 0.9 times this no launch can honestly be, and of what that follows
/// (wrapper/trust/Floor.h).
struct FloorReport {
  double ColdUs = 0, WarmUs = 0; // 0: not known, since it was not traced
  std::string ColdBy, WarmBy;    // what bounds it: "memory", "float arithmetic"
  uint64_t ReadBytes = 0, WrittenBytes = 0; // of the original, in sectors
  Operations Counted;                       // of the code itself
  /// Why operations are not counted, and bytes alone make the floor; empty:
  /// they are.
  std::string Uncounted;
};

} // namespace r3
