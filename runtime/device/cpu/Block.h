// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of threads on one processor thread. Each thread is a fiber; a thread
// that has to wait switches to the next one that can run (Boost.Context's
// jump, some nanoseconds). Barriers and warp operations are decided by the
// thread that arrives last, which lets the others go on.
#pragma once

#include "runtime/device/cpu/Launch.h"
#include "runtime/device/cpu/Stacks.h"

#include <csetjmp>
#include <memory>

namespace r3::cpu {

/// A block's shared memory.
class SharedBuffer {
public:
  ~SharedBuffer();
  unsigned char *get(uint32_t Size);

private:
  unsigned char *Where = nullptr;
  uint32_t Capacity = 0;
};

/// Threads of a kernel that never waits, one after the other.
class LoopFrame {
public:
  void run(Launch &L, ThreadContext &Context);
  /// Leaves run() from inside the kernel.
  [[noreturn]] static void leave();

private:
  std::jmp_buf Exit;
};

/// A thread of a block. The context comes first: kernels point to it.
struct FiberThread : ThreadContext {
  void *Fiber = nullptr; // where it goes on
  AddressRange Stack;
  enum class Wait : uint8_t { None, Barrier, Warp, Active, Exited };
  Wait Waits = Wait::None;
  // A warp operation or a barrier that it waits in.
  uint32_t Operation = 0;
  uint32_t Mask = 0; // Barrier: its number
  uint32_t LaneOperand = 0;
  uint32_t Clamp = 0;
  uint64_t Value = 0;
  uint64_t Result = 0;
  bool Predicate = false;
};

class Block {
public:
  enum class State { Done, Waiting };

  /// Prepares block Index of L; its stacks and shared memory are kept.
  void start(Launch &L, uint64_t Index, uint32_t Processor);
  /// Runs until all threads have ended, or all that can run only wait for
  /// something outside. A deadlock is a fault of the launch and ends the
  /// block.
  State run();

  // --- Called by the running thread.

  uint32_t barrier(FiberThread &T, uint32_t Id, uint32_t Count,
                   uint32_t Operation, uint32_t Value);
  void arrive(FiberThread &T, uint32_t Id, uint32_t Count);
  uint64_t warpOperation(FiberThread &T, uint32_t Operation, uint32_t Mask,
                         uint64_t Value, uint32_t Lane, uint32_t Clamp,
                         bool *Predicate);
  uint32_t activeMask(FiberThread &T, uint32_t Site);
  void yield(FiberThread &T);
  [[noreturn]] void exit(FiberThread &T);
  /// Ends the block without its threads (after a fault).
  [[noreturn]] void abandon();

private:
  static constexpr unsigned MaxWarps = 32, MaxBarriers = 16;

  struct Warp {
    uint32_t Live = 0;     // lanes that have not ended
    uint32_t Ready = 0;    // lanes that can run
    uint32_t InWarp = 0;   // wait in a warp operation
    uint32_t InActive = 0; // wait in activeMask
  };
  struct Barrier {
    uint32_t Waiting[MaxWarps] = {};
    uint32_t Arrived[MaxWarps] = {}; // without waiting
    uint32_t Threads = 0;            // in both
    uint32_t Count = 0;              // 0: the whole block
    uint32_t And = 1, Or = 0, Sum = 0;
  };

  Launch *L = nullptr;
  void *Main = nullptr; // where run() goes on
  AddressRange MainStack;
  StackSet Stacks;
  SharedBuffer Shared;
  std::unique_ptr<FiberThread[]> Threads;
  uint32_t Capacity = 0, Size = 0, Live = 0;
  uint32_t WarpCount = 0;
  uint32_t IdleTurns = 0;        // yields since anything else happened
  FiberThread *Resume = nullptr; // runs first when run() goes on
  bool Abandoned = false;
  Warp Warps[MaxWarps];
  Barrier Barriers[MaxBarriers];

  FiberThread &lane(uint32_t Warp, uint32_t Lane) {
    return Threads[Warp * 32 + Lane];
  }
  void wait(FiberThread &T, FiberThread::Wait How);
  void *target(FiberThread *To);
  void switchTo(FiberThread &From, FiberThread *To);
  FiberThread *next(uint32_t Warp, uint32_t Lane);
  bool resolveActive(Warp &W, uint32_t Index);
  void completed(Barrier &B);
  bool isComplete(const Barrier &B) const;
  bool tryWarp(uint32_t Index, uint32_t Operation, uint32_t Mask);
  void afterExit(uint32_t WarpIndex);
  void reportDeadlock();
  friend struct FiberEntry;
};

/// Results of a warp operation for all lanes of Members (lanes of T).
void computeWarp(FiberThread *Lanes, uint32_t Operation, uint32_t Members);

} // namespace r3::cpu
