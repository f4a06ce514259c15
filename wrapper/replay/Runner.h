// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch after another over restored memory: restore what differs from the
// recorded contents, launch, digest everything. Knows inputs only.
#pragma once

#include "wrapper/replay/Footprint.h"
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
};

struct RunResult {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  bool Sticky = false; // the process is of no further use
  double Ns = 0;       // between device events around the launch
  std::vector<Digest> Digests;
  std::optional<Footprint> Traced;
  std::map<std::string, double> Ms;
};

class Runner {
public:
  Runner(Device &D, const ReplayPlan &Plan, ReplayMemory &Memory)
      : D(D), Plan(Plan), Memory(Memory) {}

  Error open();
  /// Replaces the code of a slot.
  Expected<KernelInfo> setCode(const std::string &Slot,
                               std::span<const uint8_t> Image,
                               const std::string &Kernel);

  struct Request {
    size_t Launch = 0;
    std::string Slot;
    bool Flush = false;
    bool Dry = false;       // restore and digest only
    bool Trace = false;     // the code was built for it
    uint64_t RoundSeed = 0; // not 0: the code rounds at random
    uint8_t PoisonByte = 0;
    Poison Where; // filled with PoisonByte before the launch
  };
  /// Ready is called when everything is in place and only the launch is left,
  /// Done when it has ended: between the two the launch's deadline runs.
  RunResult run(const Request &R, const std::function<void()> &Ready,
                const std::function<void()> &Done);

  /// Bytes of a chunk as the last run left them.
  Expected<std::vector<uint8_t>> readChunk(size_t Launch, size_t Range,
                                           uint64_t Chunk);

private:
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
  Error restore(const PlanLaunch &L, const LoadedCode &Code);
  Error restoreRange(const PlanRange &P, Address Base, const Digest *Live);
  Expected<std::vector<Patch>> collect(const PlanLaunch &L,
                                       const LoadedCode &Code, bool Original,
                                       std::vector<uint8_t> &Arguments);
  Error patch(std::vector<Patch> &Patches);
  Error unpatch(const std::vector<Patch> &Patches);
  Error setSeed(const LoadedCode &Code, uint64_t Seed);
  Error poison(const Request &R, const PlanLaunch &L, const LoadedCode &Code);
  Expected<double> launch(const PlanLaunch &L, const LoadedCode &Code,
                          std::span<const uint8_t> Arguments, bool Flush);
  Error ensureScratch(uint64_t Bytes);
  Error readStretches(const std::vector<Patch> &Patches);
  Error writeStretches(const std::vector<Patch> &Patches);
  RunResult failed(const Error &E, Outcome Default);

  Device &D;
  const ReplayPlan &Plan;
  ReplayMemory &Memory;
  StreamHandle Stream = nullptr;
  EventHandle Begin = nullptr, End = nullptr;
  std::map<std::string, LoadedCode> Codes;
  std::string LastSlot;
  uint8_t *Scratch = nullptr; // pinned
  uint64_t ScratchBytes = 0;
  // Digests of the memory as it is now, in terms of launch LiveLaunch.
  std::vector<Digest> Live;
  std::optional<size_t> LiveLaunch;
};

} // namespace r3::replay
