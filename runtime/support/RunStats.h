// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a recorded run launched, kept in a file that the recorder maps shared
// and updates in place, so that it is there also after a kill. `r3 record`
// reads it at the end, `r3 list` later.
//
// file   := header  entry[MaxKernels]   (fixed size, zero = unused)
// header := "R3RUN\0\0\0" u32 version(1) u32 kernels  u32 pid  u32 rank
//           u64 startedAt(unix ns)  u64 lastUpdate(unix ns)  char program[192]
//           char device[192] (DeviceIdentity::Key)
// entry  := char key[40]  char name[216]  u64 launches, sampled, sampledNs,
//           recorded, bytesRecorded, pauseNs  u32 lastReason  u32 reasonCount
// A reader takes a copy and bounds every count and string.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace r3 {

struct KernelRunStats {
  std::string Key;
  std::string Name; // display name
  uint64_t Launches = 0;
  uint64_t Sampled = 0;   // launches whose duration was measured
  uint64_t SampledNs = 0; // sum of those
  uint64_t Recorded = 0;
  uint64_t BytesRecorded = 0;
  uint64_t PauseNs = 0; // how long recording held the program
  uint32_t LastReason = 0;
  uint32_t ReasonCount = 0;

  /// Estimated time of all launches.
  double totalNs() const {
    return Sampled ? double(SampledNs) / Sampled * Launches : 0;
  }
};

struct RunStats {
  uint32_t Pid = 0;
  uint32_t Rank = 0;
  uint64_t StartedAtNs = 0;
  uint64_t LastUpdateNs = 0;
  std::string Program;
  std::string Device;
  std::vector<KernelRunStats> Kernels;

  static Expected<RunStats> read(const std::string &Path);
  static Expected<RunStats> parse(std::span<const uint8_t> Bytes,
                                  const std::string &Name);
};

/// The recorder's side. Slots are added under the caller's lock; update() of
/// different slots from different threads is safe.
class RunStatsWriter {
public:
  static constexpr uint32_t MaxKernels = 4096;
  static Expected<std::unique_ptr<RunStatsWriter>>
  create(const std::string &Path, const RunStats &Header);
  ~RunStatsWriter();
  /// Index of a new slot; MaxKernels where the table is full.
  uint32_t addKernel(const std::string &Key, const std::string &Name);
  void update(uint32_t Slot, const KernelRunStats &Values);
  void setDevice(const std::string &Device);

private:
  struct State;
  explicit RunStatsWriter(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

} // namespace r3
