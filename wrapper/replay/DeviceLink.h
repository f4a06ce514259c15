// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor's side of the device child: starts it, keeps the descriptors
// of its memory, watches deadlines, and replaces it when it dies or hangs. A
// request to a child that is gone starts a new one, which maps the same memory
// with its contents and loads the same code.
#pragma once

#include "wrapper/replay/Batch.h"
#include "wrapper/replay/Children.h"
#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Message.h"
#include "wrapper/replay/Plain.h"
#include "wrapper/replay/Plan.h"

#include "runtime/support/Confine.h"
#include "runtime/support/Protocol.h"
#include "runtime/support/Sketch.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

/// How an attempt on the device ended; Ok carries results.
struct Attempt {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  double Ns = 0;
  std::vector<Digest> Digests;
  std::optional<Footprint> Traced;
  std::optional<Operations> Counted;
  std::map<std::string, double> Ms;
  uint32_t Registers = 0, Shared = 0;
  uint64_t LockedBytes = 0;         // that were read-only
  std::optional<uint64_t> DeniedAt; // it stored to read-only memory
  bool ok() const { return Ending == Outcome::Ok; }
};

/// How a batch ended. Run: of its last launch, without a time.
struct BatchAttempt {
  Attempt Run;
  BatchTimes Times;
  std::vector<Digest> Digests;  // of Digested, one launch after another
  std::vector<Sketch> Sketches; // of those in Sketched ranges, likewise
};

class DeviceLink {
public:
  struct Options {
    std::string Program; // r3-device
    std::string Backend;
    int Ordinal = 0;
    std::vector<std::string> Launcher = {}; // see Child::Options
    /// That a child may open when its device is open; nothing: all.
    std::optional<FileAccess> Files = {};
  };
  DeviceLink(Options O, Children &All) : Setup(std::move(O)), All(All) {}

  /// Starts the first child; afterwards the identity is known.
  Error open();
  const DeviceIdentity &identity() const { return Identity; }
  uint64_t granularity() const { return Granularity; }
  uint64_t alignment() const { return Alignment; }
  pid_t childPid() const;
  /// How the child ended, where it has; empty where it lives.
  std::string endMessage();
  /// Ends the child, which may take its time; all that it and its launcher have
  /// printed.
  std::string finish(std::chrono::milliseconds Patience);

  /// A fresh child with this plan's memory, filled from Packs.
  Error load(ReplayPlan Plan, std::span<const int> Packs);
  /// For runPlain alone: none of the plan's addresses is reserved.
  Error loadPlain(ReplayPlan Plan);
  /// Forgets memory and code; the child ends.
  void unload();
  /// All code of another child that has a kernel's launches loaded. Origins:
  /// of which one each launch here is made, and is launched like.
  void takeCodes(const DeviceLink &From, const std::vector<size_t> &Origins);
  const Options &options() const { return Setup; }

  /// Makes Image the code of Slot, in this child and those after it. Launches:
  /// how it is launched, one a launch of the plan; empty: as recorded.
  Attempt setCode(const std::string &Slot, std::vector<uint8_t> Image,
                  const std::string &Kernel,
                  std::vector<LaunchConfig> Launches = {});
  /// What the device can launch of the code in a slot.
  LaunchLimits limits(const std::string &Slot) const;

  struct RunRequest {
    size_t Launch = 0;
    std::string Slot;
    bool Flush = false;
    bool Dry = false;
    uint64_t DeadlineMs = 0; // of the launch alone
    bool Trace = false;      // the slot has traced code
    bool Count = false;      // the slot has code that counts operations
    uint64_t RoundSeed = 0;  // not 0: the slot has code that rounds at random
    uint64_t OrderSeed = 0;  // not 0: the slot has code with remapped indices
    uint8_t PoisonByte = 0;  // with Where or Scratch
    const Poison *Where = nullptr;
    bool Scratch = false; // shared and local memory hold PoisonByte, too
    std::optional<std::vector<uint64_t>> Written = {}; // see Runner.h
  };
  /// Launches once over restored memory.
  Attempt run(const RunRequest &R);
  /// Launches that the device has all before it begins. DeadlineMs: of them
  /// together.
  BatchAttempt runBatch(const BatchRequest &What, uint64_t DeadlineMs);
  /// Launches once in memory of the device's own, filled from Packs, in a child
  /// that has the plan but none of its memory. It stays as it is also where the
  /// device is broken afterwards, to be asked by finish(); a launch after that
  /// fails.
  Attempt runPlain(size_t Launch, const std::string &Slot,
                   const PlainLaunch &Plain, std::span<const int> Packs,
                   uint64_t DeadlineMs);
  /// What the device can do at most.
  Expected<RatesReport> rates();
  /// How many chunks of the pristine copies are not those of the plan.
  Expected<size_t> changedPristine();
  /// Bytes of chunks of a range as the last run left them, one after another.
  Expected<std::vector<uint8_t>> read(size_t Launch, size_t Range,
                                      const std::vector<uint64_t> &Chunks);

  /// Where a range of a loaded plan begins.
  uint64_t rangeAddress(size_t Launch, size_t Range) const {
    return Plan->Launches[Launch].Ranges[Range].Address;
  }

private:
  struct Code {
    std::vector<uint8_t> Image;
    std::string Kernel;
    std::vector<LaunchConfig> Launches; // empty: as recorded
    bool Loaded = false;                // in the present child
    uint32_t Threads = 0, Shared = 0;   // that a block may have, and has
  };
  struct Answer {
    json::Document Header;
    std::vector<uint8_t> Blob;
  };
  /// Why there is no answer.
  struct Loss {
    Outcome Ending = Outcome::Crashed;
    std::string Message;
    std::optional<uint64_t> DeniedAt = {};
  };

  Error start();
  Error startWithMemory();
  Error ensure();
  Error create(std::span<const int> Packs);
  Error adopt();
  Attempt loadCode(const std::string &Slot, Code &C);

  Attempt loadIfNot(const std::string &Slot);
  /// The answer to a request to launch; nothing where there is none, and why.
  std::optional<Answer> receiveRun(uint64_t DeadlineMs, Attempt &Why);
  /// How the answer says that it ended.
  Attempt endingOf(const Answer &Reply);
  static Error readResults(const Answer &Reply, Attempt &A);
  Error send(std::string Json, std::vector<uint8_t> Blob);
  /// The next frame of the present request.
  Expected<Answer> receive(int TimeoutMs);
  Expected<Answer> ask(std::string Json, std::vector<uint8_t> Blob,
                       int TimeoutMs);
  /// Ends the child and says what its end means.
  Loss lose(const Error &Why, Outcome OnTimeout);
  Attempt lost(const Error &Why, Outcome OnTimeout = Outcome::Crashed);
  Error sendPacks(std::span<const int> Fds);
  int patienceMs() const; // for work that grows with the footprint
  bool childIsGone() const;

  Options Setup;
  Children &All;
  std::optional<Child> Runs;
  std::optional<Channel> Link;
  bool Fresh = false; // the child has no plan yet
  uint64_t NextId = 1;

  DeviceIdentity Identity;
  uint64_t Granularity = 0, Alignment = 0;
  LaunchLimits Limits;

  std::optional<ReplayPlan> Plan;
  std::vector<OwnedFd> Memory; // what new children adopt
  bool HostPool = false;
  std::map<std::string, Code> Codes;
};

} // namespace r3::replay
