// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch after another over restored memory: restore what differs from the
// recorded contents, launch, digest everything. Knows inputs only.
#pragma once

#include "wrapper/replay/Batch.h"
#include "wrapper/replay/ChunkDigests.h"
#include "wrapper/replay/ChunkSketches.h"
#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Plain.h"
#include "wrapper/replay/Plan.h"
#include "wrapper/replay/ReplayMemory.h"

#include "runtime/device/Device.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

/// A loaded binary.
struct LoadedCode {
  std::unique_ptr<DeviceModule> Module;
  KernelHandle Kernel = nullptr;
  KernelInfo Info;
  bool HasRun = false;
  /// Grid, block and shared memory of each launch of the plan; empty: as
  /// recorded.
  std::vector<LaunchConfig> Launches;

  /// How Launch of the plan, recorded as Recorded, is launched with this code.
  LaunchConfig configOf(size_t Launch, LaunchConfig Recorded) const;
};

struct RunResult {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  bool Sticky = false;      // the process is of no further use
  double Ns = 0;            // between device events around the launch
  uint64_t LockedBytes = 0; // that were read-only
  std::vector<Digest> Digests;
  std::optional<Footprint> Traced;
  std::optional<Operations> Counted;
  std::map<std::string, double> Ms;
};

struct BatchResult {
  RunResult Run; // of the last launch: its digests; no time
  BatchTimes Times;
  std::vector<Digest> Digests;  // of Digested, one launch after another
  std::vector<Sketch> Sketches; // of those in Sketched ranges, likewise
};

class Runner {
public:
  Runner(Device &D, const ReplayPlan &Plan, ReplayMemory &Memory)
      : D(D), Plan(Plan), Memory(Memory) {}

  Error open();
  /// Replaces the code of a slot.
  Expected<KernelInfo> setCode(const std::string &Slot,
                               std::span<const uint8_t> Image,
                               const std::string &Kernel,
                               std::vector<LaunchConfig> Launches);

  struct Request {
    size_t Launch = 0;
    std::string Slot;
    bool Flush = false;
    bool Dry = false;       // restore and digest only
    bool Trace = false;     // the code was built for it
    bool Count = false;     // likewise
    uint64_t RoundSeed = 0; // not 0: the code rounds at random
    uint64_t OrderSeed = 0; // not 0: the code has remapped indices
    uint8_t PoisonByte = 0;
    Poison Where;                   // filled with PoisonByte before the launch
    std::optional<uint8_t> Scratch; // what fills shared and local memory
    /// Ranges that the launch may write; all other memory is mapped for reading
    /// meanwhile, as far as the device can. Nothing: it may write all.
    std::optional<std::vector<uint64_t>> Written;
  };
  /// Ready is called when everything is in place and only the launch is left,
  /// Done when it has ended: between the two the launch's deadline runs.
  RunResult run(const Request &R, const std::function<void()> &Ready,
                const std::function<void()> &Done);

  /// Launches that the device has all before it begins: RunBatch.cpp. Ready is
  /// called before it is released, Done when the last launch has ended. All
  /// codes must have run in this process.
  BatchResult runBatch(const BatchRequest &R,
                       const std::function<void()> &Ready,
                       const std::function<void()> &Done);
  /// A launch in memory of its own, filled from Packs, which are closed before
  /// it: PlainRun.cpp. Nothing of the plan need be mapped, nothing is digested.
  RunResult runPlain(size_t Launch, const std::string &Slot,
                     const PlainLaunch &Plain, std::vector<OwnedFd> Packs,
                     const std::function<void()> &Ready,
                     const std::function<void()> &Done);
  /// Digests of the pristine copies, in the order of the plan's pool.
  Expected<std::vector<Digest>> digestPool();

  /// Bytes of a chunk as the last run left them.
  Expected<std::vector<uint8_t>> readChunk(size_t Launch, size_t Range,
                                           uint64_t Chunk);

private:
  /// For copies and digests; the supervisor keeps the launch's deadline.
  static constexpr uint64_t WaitMs = 120000;
  static constexpr uint64_t LaunchWaitMs = 24ull * 3600 * 1000;

  /// Symbolic words that lie close together: read, changed and written as one
  /// stretch of memory.
  struct Patch {
    Address Begin = 0;
    uint64_t Size = 0;
    uint64_t At = 0; // in the scratch buffer
    struct Word {
      uint64_t Offset = 0; // in the stretch
      uint64_t Recorded = 0, Resolved = 0;
    };
    std::vector<Word> Words;
  };

  /// Address of a range for the code that runs; nothing for a module global
  /// that the code does not have.
  std::optional<Address> baseOf(const PlanRange &P, const LoadedCode &Code);
  std::vector<std::optional<Address>> basesOf(const PlanLaunch &L,
                                              const LoadedCode &Code);
  Expected<std::vector<Digest>> digestAll(const PlanLaunch &L,
                                          const LoadedCode &Code);
  Error restore(const PlanLaunch &L, const LoadedCode &Code, bool KeepPool);
  Error restoreRange(const PlanRange &P, Address Base, const Digest *Live);
  Expected<std::vector<Patch>> collect(const PlanLaunch &L,
                                       const LoadedCode &Code, bool Original,
                                       std::vector<uint8_t> &Arguments);
  Error patch(std::vector<Patch> &Patches);
  Error unpatch(const std::vector<Patch> &Patches);
  Error fillPlain(PlanLaunch &L, const LoadedCode &Code, bool Original,
                  const PlainLaunch &Plain, std::span<const OwnedFd> Packs);
  Error setSeed(const LoadedCode &Code, const char *Global, uint64_t Seed);
  Expected<Address> countersOf(const LoadedCode &Code);
  Expected<Operations> readCounters(const LoadedCode &Code);
  Error lock(const PlanLaunch &L,
             const std::optional<std::vector<uint64_t>> &Written);
  Error poison(const Poison &Where, uint8_t Byte, const PlanLaunch &L,
               const LoadedCode &Code);
  Expected<double> launch(const LaunchConfig &Config, const LoadedCode &Code,
                          std::span<const uint8_t> Arguments, bool Flush,
                          std::optional<uint8_t> Scratch);
  Error ensureLive(size_t Launch, const LoadedCode &Code);
  Error ensureScratch(uint64_t Bytes) { return ensure(Scratch, Bytes); }
  Error readStretches(const std::vector<Patch> &Patches);
  Error writeStretches(const std::vector<Patch> &Patches);
  RunResult failed(const Error &E, Outcome Default);

  // RunBatch.cpp.
  struct Side;
  class BatchRun;
  friend class BatchRun;

  /// Pinned host memory that grows.
  struct Pinned {
    uint8_t *At = nullptr;
    uint64_t Bytes = 0;
  };
  Error ensure(Pinned &P, uint64_t Bytes);

  Device &D;
  const ReplayPlan &Plan;
  ReplayMemory &Memory;
  StreamHandle Stream = nullptr;
  EventHandle Begin = nullptr, End = nullptr;
  std::map<std::string, LoadedCode> Codes;
  std::string LastSlot;
  Pinned Scratch;
  Pinned Stretches, Hashes, Sketches; // of a batch
  uint32_t *Gate = nullptr;           // what held streams wait for
  uint32_t GateValue = 0;             // that was used last
  std::vector<EventHandle> Events;
  // Digests of the memory as it is now, in terms of launch LiveLaunch.
  std::vector<Digest> Live;
  std::optional<size_t> LiveLaunch;
};

} // namespace r3::replay
