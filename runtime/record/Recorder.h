// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recorder of a process: sees every launch, counts and times, decides by
// policy, and records. It never breaks the program: whatever goes wrong drops
// the record (with its reason) or switches recording off (said once), and the
// launch goes on. Any thread may call anything.
#pragma once

#include "runtime/record/Allocations.h"
#include "runtime/record/Gate.h"
#include "runtime/record/Kernel.h"
#include "runtime/record/Memory.h"
#include "runtime/record/Sampler.h"
#include "runtime/record/Saver.h"
#include "runtime/record/Streams.h"
#include "runtime/record/Units.h"
#include "runtime/support/Options.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <shared_mutex>
#include <string>
#include <vector>

namespace r3::record {

struct RecorderOptions {
  std::string StorePath;
  std::string Run;                  // name of the statistics; empty: made up
  std::vector<std::string> Kernels; // substrings of names; empty: all
  PolicyOptions Policy;
  uint64_t LimitBytes = 0; // 0: 8 GB or a tenth of the free disk
  uint64_t TimeoutMs = 10000;
  bool Everything = false; // R3_RECORD_CLOSURE=all
  uint64_t Seed = 0;
  unsigned Writers = 4;
  bool Exempt = false; // no limit on the share of time spent (r3 record -c)
};

/// As the environment asks for; the store is looked for from Folder upwards.
Expected<RecorderOptions> recorderOptions(const Environment &E,
                                          const std::string &Folder);

/// What the recorder needs to know from around it.
struct Surroundings {
  /// The device of the calling thread's current context.
  std::function<Expected<std::shared_ptr<Device>>()> Attach;
  /// Where a module global of a kernel's unit is on the device.
  std::function<Expected<AddressRange>(Device &, const KernelState &,
                                       const LoadedUnit &, const UnitGlobal &)>
      FindGlobal;
};

/// A launch as the program asks for it.
struct LaunchRequest {
  const void *Handle = nullptr;
  LaunchConfig Config;
  void *const *Arguments = nullptr;
  StreamHandle Stream = nullptr;
  Reason Why = Reason::None; // cannot be recorded for this
};

/// A device of the process, with what the recorder keeps on it.
struct DeviceState {
  DeviceState(std::shared_ptr<Device> Owned, StreamHandle Own,
              uint64_t TimeoutMs)
      : Owned(std::move(Owned)), D(*this->Owned), Identity(D.identity()),
        Own(Own), Slabs(D, stagingLimit()), Times(D),
        Reader(D, Slabs, Own, TimeoutMs) {}

  std::shared_ptr<Device> Owned;
  Device &D;
  const DeviceIdentity Identity;
  const StreamHandle Own; // the recorder's stream
  Staging Slabs;
  Sampler Times;
  MemoryReader Reader;
  std::atomic<bool> Dead{false}; // a fault, or memory that is lost
  /// Module globals by unit, found at a unit's first record.
  std::map<const LoadedUnit *, std::vector<Allocation>> Globals;
};

/// Calls the program's own launch function; gives its error code.
class OriginalLaunch {
public:
  template <typename F>
  OriginalLaunch(const F &Function)
      : Object(&Function),
        Call([](const void *O) { return (*static_cast<const F *>(O))(); }) {}
  int operator()() const { return Call(Object); }

private:
  const void *Object;
  int (*Call)(const void *);
};

class Recorder {
public:
  /// Opens the store and the statistics and says where it records.
  static Expected<std::unique_ptr<Recorder>>
  create(RecorderOptions Options, Surroundings Around, Units &Program);
  ~Recorder();

  /// Launches (always, exactly once) and perhaps records.
  int launch(const LaunchRequest &Request, OriginalLaunch Original);

  Gate &gate() { return Door; }
  Allocations &memory() { return Memory; }
  /// An allocation of the calling thread's device.
  void allocated(Address Begin, uint64_t Size, MemoryKind Kind,
                 bool Imported = false);
  /// The extent is asked of the device (imported memory).
  void imported(Address Begin);
  void streamCreated(StreamHandle Stream);
  void streamDestroyed(StreamHandle Stream) { Known.destroyed(Stream); }
  /// After a call that put work on Stream.
  void workIssued(StreamHandle Stream);
  /// After a call that waited or looked: completed times are read.
  void collect();
  void captureBegan() { ++Captures; }
  void captureEnded() { --Captures; }
  /// The kernel is used in a way that cannot be recorded (graph nodes).
  void refuse(const void *Handle, Reason Why);
  /// The calling thread's device, as it chose it.
  static void deviceChosen(int Ordinal);
  static int currentOrdinal();
  /// Before cudaDeviceReset: gives up all that is on the current device.
  void beforeReset();
  /// Changes function attributes under the kernel's lock.
  void configure(const void *Handle,
                 const std::function<void(KernelState &)> &Change);

  /// Waits until all that was recorded is on disk. Needs no driver.
  void drain();
  /// At the end of the process: drains, closes the packs, records no more.
  void finish();
  /// Records nothing from here on.
  void switchOff(const std::string &Why);
  bool isOff() const { return Off; }

private:
  friend class Take;
  struct Plan {
    KernelState &K;
    std::vector<uint8_t> Arguments;
    std::string Class; // set where the launch is to be recorded
    Policy::Choice Choice;
    uint64_t Ordinal = 0;
    uint64_t Kept = 0; // recordings of this kernel so far
  };

  /// How a record went.
  struct Attempt {
    Reason Why = Reason::NotQuiet;
    std::string Detail;
    bool Launched = false;
    int Result = 0;
    uint64_t ProgramNs = 0;
  };

  Recorder(RecorderOptions Options, Surroundings Around, Units &Program,
           std::unique_ptr<Saver> Out);
  Error openStatistics();
  DeviceState *currentDevice();
  DeviceState *attachDevice();
  void identify(KernelState &K, const DeviceIdentity &Where);
  bool resolve(KernelState &K, DeviceState &S);
  void describe(KernelState &K);
  Plan plan(const LaunchRequest &Request, KernelState &K, DeviceState &S);
  bool mayPause(const Plan &P) const;
  int launchSeen(const LaunchRequest &Request, KernelState &K, DeviceState &S,
                 OriginalLaunch Original);
  int launchTimed(const LaunchRequest &Request, Plan &P, DeviceState &S,
                  OriginalLaunch Original);
  bool record(const LaunchRequest &Request, Plan &P, DeviceState &S,
              OriginalLaunch Original, int &Result);
  bool recordAlone(const LaunchRequest &Request, Plan &P, DeviceState &S,
                   OriginalLaunch Original, int &Result);
  void attempt(const LaunchRequest &Request, Plan &P, DeviceState &S,
               OriginalLaunch Original, Attempt &A);
  void release(DeviceState &S);
  void note(KernelState &K, Reason Why, const std::string &Detail);
  void update(KernelState &K);
  uint64_t limitLeft() const;

  const RecorderOptions Options;
  const Surroundings Around;
  Units &Program;
  std::unique_ptr<Saver> Out;
  std::unique_ptr<RunStatsWriter> Statistics;
  uint64_t Limit = 0;
  uint32_t Rank = 0;
  const std::chrono::steady_clock::time_point Started;

  Gate Door;
  Allocations Memory;
  Streams Known;
  std::atomic<int> Captures{0};
  std::atomic<bool> Off{false};
  std::atomic<uint64_t> PausedNs{0};
  std::atomic<unsigned> AttachFailures{0};

  Turn Recording;                        // one record at a time
  mutable std::shared_mutex DevicesLock; // guards Devices
  std::vector<std::unique_ptr<DeviceState>> Devices;
  std::vector<std::unique_ptr<DeviceState>> Gone; // after cudaDeviceReset
  std::mutex SlotsLock;                           // RunStatsWriter::addKernel
};

} // namespace r3::record
