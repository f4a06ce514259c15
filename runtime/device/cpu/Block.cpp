// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starting, switching and ending threads; barriers. Every jump hands over who
// jumped (a thread, or the block for run()), so that the one that goes on can
// note where to continue it; a thread that ends hands over nothing.
#include "runtime/device/cpu/Block.h"

#include "runtime/device/cpu/FiberSwitch.h"

#include <boost/context/detail/fcontext.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace context = boost::context::detail;

namespace r3::cpu {

// --- Shared memory and plain loops.

SharedBuffer::~SharedBuffer() { std::free(Where); }

unsigned char *SharedBuffer::get(uint32_t Size) {
  static_assert(ReservedShared % SharedAlignment == 0);
  if (!Where || Size > Capacity) {
    std::free(Where);
    Capacity = (Size / SharedAlignment + 1) * SharedAlignment;
    Where = static_cast<unsigned char *>(
        std::aligned_alloc(SharedAlignment, ReservedShared + Capacity));
  }
  return Where + ReservedShared;
}

static thread_local LoopFrame *CurrentFrame = nullptr;

void LoopFrame::run(Launch &L, ThreadContext &C) {
  CurrentFrame = this;
  if (setjmp(Exit))
    return;
  KernelEntry Entry = L.Entry;
  const uint8_t *Arguments = L.Arguments.data();
  for (C.Thread[2] = 0; C.Thread[2] < C.BlockSize[2]; ++C.Thread[2])
    for (C.Thread[1] = 0; C.Thread[1] < C.BlockSize[1]; ++C.Thread[1])
      for (C.Thread[0] = 0; C.Thread[0] < C.BlockSize[0]; ++C.Thread[0]) {
        if (L.Fill)
          L.Fill->call(Entry, C, Arguments);
        else
          Entry(&C, Arguments);
        if (++C.Lane == 32) {
          C.Lane = 0;
          ++C.Warp;
        }
      }
}

void LoopFrame::leave() { std::longjmp(CurrentFrame->Exit, 1); }

// --- Starting.

/// First code of every fiber.
struct FiberEntry {
  static void note(context::transfer_t From, Block &B) {
    if (From.data == &B)
      B.Main = From.fctx;
    else if (From.data)
      static_cast<FiberThread *>(From.data)->Fiber = From.fctx;
  }
};

static thread_local FiberThread *Starting = nullptr;

static void enter(context::transfer_t From) {
  afterJump();
  FiberThread &T = *Starting;
  Block &B = *static_cast<Block *>(T.Owner);
  FiberEntry::note(From, B);
  auto &L = *static_cast<Launch *>(T.Launch);
  L.Entry(&T, L.Arguments.data());
  B.exit(T);
}

void Block::start(Launch &Which, uint64_t Index, uint32_t Processor) {
  L = &Which;
  Size = Live = L->threads();
  WarpCount = (Size + 31) / 32;
  Abandoned = false;
  IdleTurns = 0;
  if (Capacity < Size) {
    Threads = std::make_unique<FiberThread[]>(Size);
    Capacity = Size;
  }
  if (!Stacks.provide(Size, L->StackBytes)) {
    L->fail(Outcome::OutOfMemory, "no memory for the stacks of a block");
    Live = 0;
    return;
  }
  ThreadContext Common;
  unsigned char *Memory = Shared.get(L->SharedBytes);
  if (L->Fill)
    L->Fill->fillShared(Memory, L->SharedBytes);
  L->describe(Index, Processor, Memory, Common);
  Common.Owner = this;
  Common.Fuel = 1;
  for (uint32_t I = 0; I < Size; ++I) {
    FiberThread &T = Threads[I];
    static_cast<ThreadContext &>(T) = Common;
    T.Thread[0] = I % Common.BlockSize[0];
    T.Thread[1] = I / Common.BlockSize[0] % Common.BlockSize[1];
    T.Thread[2] = I / Common.BlockSize[0] / Common.BlockSize[1];
    T.Lane = I % 32;
    T.Warp = I / 32;
    T.Fiber = nullptr;
    T.Waits = FiberThread::Wait::None;
  }
  for (uint32_t W = 0; W < WarpCount; ++W) {
    uint32_t Lanes = std::min(32u, Size - W * 32);
    Warps[W] = Warp();
    Warps[W].Live = Warps[W].Ready = Lanes == 32 ? ~0u : (1u << Lanes) - 1;
  }
  for (Barrier &B : Barriers)
    if (B.Threads || B.Count)
      B = Barrier();
  Resume = &Threads[0];
}

// --- Switching.

/// The next thread that can run behind (Warp, Lane), in turn.
FiberThread *Block::next(uint32_t WarpIndex, uint32_t LaneIndex) {
  Warp &Own = Warps[WarpIndex];
  if (!Own.Ready && Own.InActive)
    resolveActive(Own, WarpIndex);
  uint32_t Behind = LaneIndex == 31 ? 0 : Own.Ready & (~0u << (LaneIndex + 1));
  if (Behind)
    return &lane(WarpIndex, std::countr_zero(Behind));
  for (uint32_t I = 1; I <= WarpCount; ++I) {
    uint32_t Index = WarpIndex + I;
    if (Index >= WarpCount)
      Index -= WarpCount;
    Warp &W = Warps[Index];
    if (W.Ready || (W.InActive && resolveActive(W, Index)))
      return &lane(Index, std::countr_zero(W.Ready));
  }
  return nullptr;
}

/// Where a jump to thread To (none: to run()) goes; prepares a thread's first.
void *Block::target(FiberThread *To) {
  if (!To) {
    beforeJump(MainStack);
    return Main;
  }
  if (!To->Fiber) {
    To->Stack = Stacks.stack(static_cast<uint32_t>(To - Threads.get()));
    renewStack(To->Stack);
    if (L->Fill)
      L->Fill->fillStack(To->Stack);
    To->Fiber = context::make_fcontext(
        reinterpret_cast<void *>(To->Stack.Begin + To->Stack.Size),
        To->Stack.Size, enter);
    Starting = To;
  }
  beforeJump(To->Stack);
  return To->Fiber;
}

void Block::switchTo(FiberThread &From, FiberThread *To) {
  if (To == &From)
    return;
  context::transfer_t Back = context::jump_fcontext(target(To), &From);
  afterJump();
  FiberEntry::note(Back, *this);
}

Block::State Block::run() {
  if (!Live)
    return State::Done;
  FiberThread *First = std::exchange(Resume, nullptr);
  MainStack = threadStack();
  context::transfer_t Back = context::jump_fcontext(target(First), this);
  afterJump();
  FiberEntry::note(Back, *this);
  if (Abandoned || !Live)
    return State::Done;
  if (Resume)
    return State::Waiting;
  reportDeadlock();
  return State::Done;
}

void Block::wait(FiberThread &T, FiberThread::Wait How) {
  Warps[T.Warp].Ready &= ~(1u << T.Lane);
  T.Waits = How;
  switchTo(T, next(T.Warp, T.Lane));
}

void Block::yield(FiberThread &T) {
  FiberThread *Next = next(T.Warp, T.Lane);
  if (++IdleTurns <= Live) {
    switchTo(T, Next);
    return;
  }
  // Everybody had a turn: let other blocks run.
  IdleTurns = 0;
  Resume = Next;
  switchTo(T, nullptr);
}

void Block::exit(FiberThread &T) {
  Warp &W = Warps[T.Warp];
  W.Live &= ~(1u << T.Lane);
  W.Ready &= ~(1u << T.Lane);
  T.Waits = FiberThread::Wait::Exited;
  --Live;
  IdleTurns = 0;
  afterExit(T.Warp);
  FiberThread *To = Live ? next(T.Warp, T.Lane) : nullptr;
  context::jump_fcontext(target(To), nullptr);
  __builtin_unreachable();
}

void Block::abandon() {
  Abandoned = true;
  Live = 0;
  context::jump_fcontext(target(nullptr), nullptr);
  __builtin_unreachable();
}

// --- Barriers.

/// Whether enough threads are there. With a count, warps count whole, as on
/// the GPU: lanes that have ended or never were count with their warp.
bool Block::isComplete(const Barrier &B) const {
  if (!B.Count)
    return B.Threads && B.Threads >= Live;
  uint32_t Total = 0;
  for (uint32_t W = 0; W < WarpCount; ++W)
    if (uint32_t Here = B.Waiting[W] | B.Arrived[W])
      Total += std::popcount(Here | ~Warps[W].Live);
  return Total >= B.Count;
}

void Block::completed(Barrier &B) {
  for (uint32_t W = 0; W < WarpCount; ++W) {
    for (uint32_t Left = B.Waiting[W]; Left; Left &= Left - 1) {
      FiberThread &T = lane(W, std::countr_zero(Left));
      T.Result = T.Operation == BarrierAnd  ? B.And
                 : T.Operation == BarrierOr ? B.Or
                                            : B.Sum;
      T.Waits = FiberThread::Wait::None;
    }
    Warps[W].Ready |= B.Waiting[W];
  }
  B = Barrier();
  IdleTurns = 0;
}

uint32_t Block::barrier(FiberThread &T, uint32_t Id, uint32_t Count,
                        uint32_t Operation, uint32_t Value) {
  Barrier &B = Barriers[Id % MaxBarriers];
  B.Waiting[T.Warp] |= 1u << T.Lane;
  ++B.Threads;
  B.Count = std::max(B.Count, Count);
  B.And &= Value != 0;
  B.Or |= Value != 0;
  B.Sum += Value != 0;
  T.Operation = Operation;
  T.Mask = Id % MaxBarriers;
  if (isComplete(B))
    completed(B);
  else
    wait(T, FiberThread::Wait::Barrier);
  return static_cast<uint32_t>(T.Result);
}

void Block::arrive(FiberThread &T, uint32_t Id, uint32_t Count) {
  Barrier &B = Barriers[Id % MaxBarriers];
  B.Arrived[T.Warp] |= 1u << T.Lane;
  ++B.Threads;
  B.Count = std::max(B.Count, Count);
  if (isComplete(B))
    completed(B);
}

/// A thread less may complete what others wait for.
void Block::afterExit(uint32_t WarpIndex) {
  Warp &W = Warps[WarpIndex];
  for (uint32_t Left = W.InWarp; Left; Left &= Left - 1) {
    FiberThread &T = lane(WarpIndex, std::countr_zero(Left));
    if (tryWarp(WarpIndex, T.Operation, T.Mask))
      break;
  }
  if (!Live)
    return;
  for (Barrier &B : Barriers)
    if (B.Threads && isComplete(B))
      completed(B);
}

// --- Deadlock.

static std::string waitName(const FiberThread &T) {
  if (T.Waits == FiberThread::Wait::Barrier)
    return format("at barrier %u", T.Mask);
  if (T.Operation == WarpSync)
    return format("at __syncwarp(0x%08x)", T.Mask);
  return format("in a warp operation of lanes 0x%08x", T.Mask);
}

void Block::reportDeadlock() {
  std::string Text;
  uint32_t Groups = 0;
  std::vector<std::pair<std::string, std::pair<const FiberThread *, uint32_t>>>
      Waits;
  for (uint32_t I = 0; I < Size; ++I) {
    const FiberThread &T = Threads[I];
    if (T.Waits == FiberThread::Wait::Exited)
      continue;
    std::string Name = waitName(T);
    auto It = std::find_if(Waits.begin(), Waits.end(),
                           [&](auto &W) { return W.first == Name; });
    if (It == Waits.end())
      Waits.push_back({Name, {&T, 1}});
    else
      ++It->second.second;
  }
  for (auto &[Name, Who] : Waits) {
    if (++Groups > 4)
      break;
    const FiberThread &T = *Who.first;
    Text += format("%s%u wait %s (first: thread (%u,%u,%u))",
                   Text.empty() ? "" : ", ", Who.second, Name.c_str(),
                   T.Thread[0], T.Thread[1], T.Thread[2]);
  }
  const ThreadContext &C = Threads[0];
  L->fail(Outcome::Deadlock,
          format("block (%u,%u,%u): threads wait for each other for ever: %s",
                 C.Block[0], C.Block[1], C.Block[2], Text.c_str()));
}

} // namespace r3::cpu
