// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the runtime library in a process: what the environment asks
// for, the program's units, the CPU device's functions, and the recorder. One
// object, made at the first attached image and never destroyed, since threads
// of the program may still call while the process ends.
#pragma once

#include "runtime/record/Recorder.h"

#include <atomic>
#include <memory>
#include <mutex>

namespace r3::record {

class Runtime {
public:
  /// Reads the environment at the first call. Null where it cannot be read
  /// (said once).
  static Runtime *get();

  bool servesCpu() const { return Cpu; }
  bool isNeeded() const { return Cpu || Records; }

  void attach(R3UnitTable *Unit);
  void detach(R3UnitTable *Unit);

  /// The function NAME of the CPU device, with suffix ("_ptsz") or without;
  /// null where it serves none. Hands the program's units over first.
  const void *cpuFunction(const char *Name, const char *Suffix);
  /// At each call on the CPU device: hands over units attached since.
  void addCpuUnits() {
    if (CpuUnitsSeen.load(std::memory_order_acquire) != Program.changes())
      addNewCpuUnits();
  }

  /// Null: nothing is to be recorded (any more). Made at the first call.
  Recorder *recorder() {
    return HasRecorder.load(std::memory_order_acquire) ? Made : makeRecorder();
  }

private:
  Runtime() = default;
  Error readEnvironment();
  Recorder *makeRecorder();
  bool openCpu();
  void addNewCpuUnits();
  Expected<std::shared_ptr<Device>> attachDevice();
  Expected<AddressRange> findGlobal(Device &D, const KernelState &K,
                                    const LoadedUnit &Unit,
                                    const UnitGlobal &G);
  static void afterFork();
  static void atExit();

  bool Cpu = false;
  bool Records = false;
  bool UseWinners = true;
  RecorderOptions Options;
  Units Program;

  std::mutex CpuLock;
  bool CpuTried = false;
  void *CpuLibrary = nullptr;
  std::atomic<uint64_t> CpuUnitsSeen{0};
  std::map<const R3UnitTable *, bool> CpuUnits;

  std::mutex MakeLock;
  std::atomic<bool> HasRecorder{false}; // Made is final
  Recorder *Made = nullptr;
};

} // namespace r3::record
