// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch while it runs: what its blocks share. Blocks are handed out in
// order; the first fault is kept and stops the rest.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cpu/KernelAbi.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace r3::cpu {

using KernelEntry = void (*)(ThreadContext *, const uint8_t *);

/// What a kernel with bounds checks may access, sorted, disjoint.
struct AccessTable {
  std::vector<AddressRange> Ranges;
  /// The range that contains [Where, Where+Size), or null.
  const AddressRange *find(Address Where, uint64_t Size) const;
};

/// What shared and local memory hold before a block, a thread begins.
struct Scratch {
  uint8_t Byte = 0;
  uint32_t LocalBytes = 0;
  void fillShared(unsigned char *Shared, uint32_t Size) const;
  /// The upper end of a stack that nothing lies on yet.
  void fillStack(const AddressRange &Stack) const;
  /// Calls the kernel for a thread, with the stack below the caller filled.
  void call(KernelEntry Entry, ThreadContext &C,
            const uint8_t *Arguments) const;

private:
  uint64_t frameBytes() const;
};

struct Launch {
  // Set before the launch runs.
  KernelEntry Entry = nullptr;
  std::string Kernel;
  std::vector<uint8_t> Arguments;
  LaunchConfig Config;
  uint32_t SharedBytes = 0; // static and dynamic
  uint32_t StackBytes = 0;
  bool NeedsFibers = false;
  uint64_t GridId = 0;
  uint32_t ProcessorCount = 1;
  const AccessTable *Bounds = nullptr;
  std::optional<Scratch> Fill; // nothing: what was there before

  // While it runs.
  std::atomic<uint64_t> NextBlock{0};
  std::atomic<bool> Stop{false};
  /// What cooperative_groups finds at its grid workspace: size and barrier.
  alignas(16) uint32_t Workspace[4] = {sizeof(Workspace), 0, 0, 0};

  uint32_t threads() const {
    return Config.Block[0] * Config.Block[1] * Config.Block[2];
  }
  uint64_t blocks() const {
    return uint64_t(Config.Grid[0]) * Config.Grid[1] * Config.Grid[2];
  }
  /// Claims the next block; false where there is none.
  bool claim(uint64_t &Index) {
    Index = NextBlock.fetch_add(1, std::memory_order_relaxed);
    return Index < blocks();
  }
  /// Fills what all threads of block Index share.
  void describe(uint64_t Index, uint32_t Processor, unsigned char *Shared,
                ThreadContext &Context);

  /// Notes the first fault; the launch does not go on.
  void fail(Outcome Kind, std::string Message);
  DeviceFault takeFault();

private:
  std::mutex Mutex;
  DeviceFault Fault;
};

/// "block (1,0,0) thread (5,0,0)".
std::string placeOf(const ThreadContext &Context);

/// Runs blocks of L on the calling thread until none is left. Processor is
/// what the kernel sees as its multiprocessor.
void runBlocks(Launch &L, uint32_t Processor);

} // namespace r3::cpu
