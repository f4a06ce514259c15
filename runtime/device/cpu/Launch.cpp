// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a launch's blocks on one processor thread: as plain loops over the
// threads where the kernel never waits, as fibers (Block.h) otherwise. A block
// that makes no progress may wait for one that has not started (a cooperative
// launch, a look-back chain): then another block is started beside it.
#include "runtime/device/cpu/Launch.h"

#include "runtime/device/cpu/Block.h"

#include <algorithm>
#include <cstring>
#include <sched.h>

namespace r3::cpu {

const AddressRange *AccessTable::find(Address Where, uint64_t Size) const {
  auto It = std::upper_bound(
      Ranges.begin(), Ranges.end(), Where,
      [](Address A, const AddressRange &R) { return A < R.Begin; });
  if (It == Ranges.begin())
    return nullptr;
  --It;
  uint64_t Offset = Where - It->Begin;
  return Size <= It->Size && Offset <= It->Size - Size ? &*It : nullptr;
}

std::string placeOf(const ThreadContext &C) {
  return format("block (%u,%u,%u) thread (%u,%u,%u)", C.Block[0], C.Block[1],
                C.Block[2], C.Thread[0], C.Thread[1], C.Thread[2]);
}

void Scratch::fillShared(unsigned char *Shared, uint32_t Size) const {
  std::memset(Shared, Byte, Size);
}

/// Variables lie anywhere in a kernel's frame, between what it saves. A kernel
/// without variables reads nothing that it has not saved.
uint64_t Scratch::frameBytes() const {
  constexpr uint64_t Saved = 4096, Most = 256 * 1024;
  return LocalBytes ? std::min(LocalBytes + Saved, Most) : 0;
}

void Scratch::fillStack(const AddressRange &Stack) const {
  const uint64_t Size = std::min(frameBytes(), Stack.Size);
  std::memset(reinterpret_cast<void *>(Stack.Begin + Stack.Size - Size), Byte,
              Size);
}

/// Leaves Size bytes of Byte on the stack below the caller, but for what it has
/// there of its own.
__attribute__((noinline, no_sanitize("address"))) static void
fillBelow(uint8_t Byte, uint64_t Size) {
  void *Where = __builtin_alloca(Size);
  std::memset(Where, Byte, Size);
  // Somebody may look at it.
  asm volatile("" : : "r"(Where) : "memory");
}

/// The kernel's frame begins below what fillBelow had of its own.
__attribute__((noinline)) static void
callBelow(KernelEntry Entry, ThreadContext &C, const uint8_t *Arguments) {
  unsigned char Gap[256];
  asm volatile("" : : "r"(Gap) : "memory");
  Entry(&C, Arguments);
  asm volatile("" : : "r"(Gap) : "memory");
}

void Scratch::call(KernelEntry Entry, ThreadContext &C,
                   const uint8_t *Arguments) const {
  if (const uint64_t Size = frameBytes())
    fillBelow(Byte, Size);
  callBelow(Entry, C, Arguments);
}

void Launch::describe(uint64_t Index, uint32_t Processor, unsigned char *Shared,
                      ThreadContext &C) {
  C = ThreadContext();
  for (int I = 0; I < 3; ++I) {
    C.BlockSize[I] = Config.Block[I];
    C.GridSize[I] = Config.Grid[I];
    C.Block[I] = static_cast<uint32_t>(Index % Config.Grid[I]);
    Index /= Config.Grid[I];
  }
  C.WarpCount = (threads() + 31) / 32;
  C.Processor = Processor;
  C.ProcessorCount = ProcessorCount;
  C.Shared = Shared;
  C.SharedBytes = SharedBytes;
  C.DynamicSharedBytes = Config.DynamicShared;
  C.Workspace = Config.Cooperative ? Workspace : nullptr;
  C.GridId = GridId;
  C.Launch = this;
}

void Launch::fail(Outcome Kind, std::string Message) {
  std::lock_guard Lock(Mutex);
  if (Fault.Kind == Outcome::Ok)
    Fault = {Kind, Kernel + ": " + std::move(Message), false};
  Stop = true;
}

DeviceFault Launch::takeFault() {
  std::lock_guard Lock(Mutex);
  return std::exchange(Fault, {});
}

namespace {

/// Buffers and blocks that a processor thread keeps between launches.
struct Workplace {
  SharedBuffer Shared;
  std::vector<std::unique_ptr<Block>> Idle;

  std::unique_ptr<Block> take() {
    if (Idle.empty())
      return std::make_unique<Block>();
    std::unique_ptr<Block> Result = std::move(Idle.back());
    Idle.pop_back();
    return Result;
  }
  void giveBack(std::unique_ptr<Block> B) {
    if (Idle.size() < 4)
      Idle.push_back(std::move(B));
  }
};

thread_local Workplace Place;

void runAsLoops(Launch &L, uint32_t Processor) {
  unsigned char *Shared = Place.Shared.get(L.SharedBytes);
  LoopFrame Frame;
  uint64_t Index;
  while (!L.Stop.load(std::memory_order_relaxed) && L.claim(Index)) {
    ThreadContext Context;
    if (L.Fill)
      L.Fill->fillShared(Shared, L.SharedBytes);
    L.describe(Index, Processor, Shared, Context);
    Frame.run(L, Context);
  }
}

class FiberBlocks {
public:
  FiberBlocks(Launch &L, uint32_t Processor) : L(L), Processor(Processor) {}

  void run() {
    while (claim())
      while (!Live.empty() && !L.Stop.load(std::memory_order_relaxed))
        if (!runOnce() && !(mayGrow() && claim()))
          sched_yield();
    for (auto &B : Live) // after a fault
      Place.giveBack(std::move(B));
  }

private:
  Launch &L;
  uint32_t Processor;
  std::vector<std::unique_ptr<Block>> Live;

  /// Blocks that are started beside waiting ones: all of a cooperative launch.
  bool mayGrow() const { return L.Config.Cooperative || Live.size() < 64; }

  bool claim() {
    uint64_t Index;
    if (L.Stop.load(std::memory_order_relaxed) || !L.claim(Index))
      return false;
    std::unique_ptr<Block> B = Place.take();
    B->start(L, Index, Processor);
    Live.push_back(std::move(B));
    return true;
  }

  /// Lets each block run; whether one ended.
  bool runOnce() {
    bool Ended = false;
    for (size_t I = 0; I < Live.size() && !L.Stop;) {
      if (Live[I]->run() == Block::State::Waiting) {
        ++I;
        continue;
      }
      Ended = true;
      Place.giveBack(std::move(Live[I]));
      Live.erase(Live.begin() + I);
    }
    return Ended;
  }
};

} // namespace

void runBlocks(Launch &L, uint32_t Processor) {
  if (L.NeedsFibers)
    FiberBlocks(L, Processor).run();
  else
    runAsLoops(L, Processor);
}

} // namespace r3::cpu
