// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch being recorded, step by step: before() finds and saves the
// memory that the launch can reach, the launch runs, after() saves what it
// changed, publish() hands the manifest to the saver. A step that returns a
// reason ends the record; the destructor rolls back what was not published.
// The gate is closed and the recorder's lock held all the time.
#pragma once

#include "runtime/record/Recorder.h"

namespace r3::record {

class Take {
public:
  Take(Recorder &R, DeviceState &S, KernelState &K,
       const LaunchRequest &Request, std::vector<uint8_t> Arguments);
  ~Take();

  Reason before();
  /// Runs the original between two events.
  int launch(OriginalLaunch Original);
  Reason after(int LaunchResult);
  /// Class: of the arguments. Kept: the place that the recording takes. Under
  /// the kernel's lock.
  void publish(const std::string &Class, uint64_t Ordinal,
               std::shared_ptr<KeptRecording> Kept);

  /// Whether the launch changed any of the memory that it can reach.
  bool changedMemory() const;
  /// More about the reason, for people.
  const std::string &detail() const { return Detail; }
  uint64_t durationNs() const { return DurationNs; }
  /// From the launch to its end, as the host saw it: the program's own time.
  uint64_t programNs() const { return ProgramNs; }

private:
  Reason failed(const Error &E);
  Reason findTargets();
  void addUnknown(std::vector<Allocation> &Targets);
  Reason findGlobals();
  Reason checkKinds();
  Reason saveBefore();
  Reason findSymbols();
  Error findSymbolsIn(std::span<const uint32_t> Flagged,
                      std::span<const AddressRange> Globals);
  void addSymbols(uint32_t Where, uint64_t Base,
                  std::span<const uint8_t> Bytes);
  std::vector<AddressRange> ranges() const;
  Expected<uint64_t> save(std::span<const WantedChunk> Chunks);

  Recorder &R;
  DeviceState &S;
  KernelState &K;
  const LaunchRequest &Request;
  std::vector<uint8_t> Arguments;
  std::vector<Allocation> Globals; // of the unit
  std::vector<Allocation> Reached;
  std::vector<std::vector<Digest>> Before;
  std::vector<SymbolicWord> Symbols;
  std::vector<std::vector<ChangedChunk>> Changed;
  Sampler::Pair Times;
  uint64_t DurationNs = 0;
  uint64_t ProgramNs = 0;
  std::chrono::steady_clock::time_point LaunchedAt;
  std::string Detail;
  bool Begun = false;
  bool Published = false;
};

} // namespace r3::record
