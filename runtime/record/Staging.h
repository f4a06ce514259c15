// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pinned host memory into which the device copies what is recorded. It comes
// in slabs that writers give back. Pinning is slow (some 3 GB/s), so slabs are
// made ahead by a thread of their own, as many as the program has device
// memory, up to a limit; then a record holds the program for the copy alone.
#pragma once

#include "runtime/device/Device.h"

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace r3::record {

class Staging {
public:
  static constexpr uint64_t SlabBytes = 16ull << 20;

  struct Slab {
    uint8_t *Data = nullptr;
    bool Pinned = true;
  };

  Staging(Device &D, uint64_t LimitBytes);
  /// Does not free slabs: the driver may be gone. releaseAll does.
  ~Staging();

  /// Makes slabs ahead in the background until Bytes are there.
  void prepare(uint64_t Bytes);
  /// A free slab: one that is there, else a new one within the limit; null
  /// where all are in use and no more may be made.
  Slab *acquire();
  /// Gives it back; from any thread.
  void release(Slab *S);
  /// Waits until a slab may be free; false after TimeoutMs.
  bool waitForRelease(uint64_t TimeoutMs);
  /// Ends the thread and frees all memory; nothing may be in use and nothing
  /// is asked for afterwards. For cudaDeviceReset.
  void releaseAll();

private:
  Slab *make();
  Slab *add(void *Memory, bool Pinned); // with the lock held
  void work();
  void stop();

  Device &D;
  const uint64_t Limit; // slabs
  std::mutex Lock;
  std::condition_variable Changed;
  std::vector<std::unique_ptr<Slab>> Slabs;
  std::vector<Slab *> Free;
  uint64_t Made = 0;
  uint64_t Target = 0;
  bool Stop = false;
  bool CannotPin = false;
  std::thread Maker;
};

/// A quarter of the memory that is available now, 8 GiB at most.
uint64_t stagingLimit();

} // namespace r3::record
