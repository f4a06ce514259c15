// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch of launches as one piece of work. Everything that a launch needs
// (what to restore from the pool, symbolic words, poison, digests) is worked
// out before the first, so that only asynchronous calls are left; they are
// queued behind a hold, and the device then never waits for the host. Streams
// hold a limited number of calls: where a batch needs more, each launch is held
// by itself, behind the restoring of its memory.
//
// The pool is mapped while the batch runs, for reading alone. Digests go to the
// host; no result is kept where a later launch could find it.
#include "wrapper/replay/Runner.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;
/// Calls that may be queued in a held stream: well below the thousand at which
/// the driver makes the caller wait for the device.
constexpr size_t MostQueued = 512;
/// Flushes during which clocks are read, before and after the launches.
constexpr int ClockFlushes = 4;

double usSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - Start)
      .count();
}

} // namespace

/// One code of a batch, with all that its launches need.
struct Runner::Side {
  LoadedCode *Code = nullptr; // null: the empty kernel
  KernelHandle Kernel = nullptr;
  std::vector<uint8_t> Arguments;
  struct Copy {
    Address To = 0, From = 0; // From 0: the pattern of guards
    uint64_t Size = 0;
  };
  std::vector<Copy> Restores;
  std::vector<Patch> Patches;
  std::vector<uint8_t> Stretches; // with resolved words
  uint64_t StretchesAt = 0;       // in the pinned ones
  /// Chunks of one range of which digests are taken.
  struct Piece {
    const PlanRange *Range = nullptr;
    uint64_t First = 0, End = 0;
    std::optional<size_t> Number; // nothing: the code has no such global
  };
  std::vector<Piece> Digested;
  ChunkDigests Digests; // of what one launch leaves
  ChunkSketches Sketches;

  size_t operations(const Poison &Where) const {
    return Restores.size() + Patches.size() + Where.List.size();
  }
};

class Runner::BatchRun {
public:
  BatchRun(Runner &R, const BatchRequest &What)
      : R(R), D(R.D), L(R.Plan.Launches[What.Launch]), What(What) {}

  /// All that can wait for the device.
  Error prepare();
  Error run(const std::function<void()> &Ready,
            const std::function<void()> &Done, BatchTimes &Times);
  std::vector<Digest> digests() const;
  std::vector<Sketch> sketches() const;
  Side &last() { return *Launches.back(); }

private:
  bool flushes() const { return What.Mode == CacheMode::Cold && What.Flushes; }
  /// On the CPU device the events are the host's clock, and a host that looks
  /// at it all the time takes a processor away from the device.
  bool hasOwnClock() const { return D.identity().Backend != "cpu"; }
  size_t operations() const;
  EventHandle start() const { return R.Events[0]; }
  EventHandle stop() const { return R.Events[1]; }
  EventHandle before(size_t I) const { return R.Events[2 + 2 * I]; }
  EventHandle after(size_t I) const { return R.Events[3 + 2 * I]; }

  Error makeEvents();
  Error makeSide(const std::string &Slot, Side &S);
  Error makePatches(Side &S, bool Original);
  void addRestores(Side &S, const PlanRange &P, Address Base, uint64_t First,
                   uint64_t End);
  void addDigests(Side &S, const PlanRange &P, std::optional<Address> Base,
                  uint64_t First, uint64_t End);
  void addSketches(Side &S, const PlanRange &P, std::optional<Address> Base,
                   uint64_t First, uint64_t End);
  void makePieces(Side &S);

  Error hold() { return D.hold(R.Stream, R.Gate, ++R.GateValue); }
  void release() { Device::release(R.Gate, R.GateValue); }
  ClockSample sample(std::string &Why);
  Error keepBusy(int Flushes);
  Error queueMemory(Side &S, uint8_t PoisonByte);
  Error queueLaunch(Side &S);
  Error queueTimed(size_t I, bool Whole);
  Error queueAll(bool Whole, const std::function<void()> &Ready);
  Error waitForStop();
  Error readTimes(BatchTimes &Times);
  Error timeNothing(BatchTimes &Times);

  Runner &R;
  Device &D;
  const PlanLaunch &L;
  const BatchRequest &What;
  std::map<std::string, Side> Sides;
  std::vector<Side *> Launches;
  std::vector<uint64_t> DigestsAt, SketchesAt; // one a launch
  bool HasClocks = false;
  Clock::time_point Released;
};

// --- Before the first launch.

Error Runner::BatchRun::makeEvents() {
  while (R.Events.size() < 2 + 2 * What.Slots.size()) {
    auto Made = D.createEvent(/*Timing=*/true);
    if (!Made)
      return Made.error();
    R.Events.push_back(*Made);
  }
  return {};
}

/// Copies from the pool; neighbours go in one where it has them side by side.
void Runner::BatchRun::addRestores(Side &S, const PlanRange &P, Address Base,
                                   uint64_t First, uint64_t End) {
  for (uint64_t I = First; I < End; ++I) {
    const uint64_t Size = Recording::chunkSize(P.Size, I);
    const Address To = Base + I * ChunkBytes;
    const Address From = P.What == PlanRange::Kind::Guard
                             ? 0
                             : R.Memory.poolAddress(P.PoolOffset[I]);
    Side::Copy *Last = S.Restores.empty() ? nullptr : &S.Restores.back();
    if (Last && Last->To + Last->Size == To &&
        (From ? Last->From && Last->From + Last->Size == From : !Last->From))
      Last->Size += Size;
    else
      S.Restores.push_back({To, From, Size});
  }
}

void Runner::BatchRun::addDigests(Side &S, const PlanRange &P,
                                  std::optional<Address> Base, uint64_t First,
                                  uint64_t End) {
  Side::Piece Piece{&P, First, End, {}};
  const uint64_t From = First * ChunkBytes;
  if (Base)
    Piece.Number = S.Digests.add(
        {*Base + From, std::min(End * ChunkBytes, P.Size) - From});
  S.Digested.push_back(Piece);
}

void Runner::BatchRun::addSketches(Side &S, const PlanRange &P,
                                   std::optional<Address> Base, uint64_t First,
                                   uint64_t End) {
  const size_t Range = size_t(&P - L.Ranges.data());
  if (Range >= What.Sketched.size() || What.Sketched[Range] == ValueType::Bytes)
    return;
  const uint64_t From = First * ChunkBytes;
  S.Sketches.add(
      {Base ? *Base + From : 0, std::min(End * ChunkBytes, P.Size) - From},
      SketchForm{What.Sketched[Range], What.SketchSeed}.ofChunk(First));
}

void Runner::BatchRun::makePieces(Side &S) {
  uint64_t Start = 0; // number of the range's first chunk
  for (const PlanRange &P : L.Ranges) {
    const std::optional<Address> Base = R.baseOf(P, *S.Code);
    const uint64_t Next = Start + P.chunks();
    auto Each = [&](const IntervalSet &Set, auto Add) {
      for (const Interval &I : Set.intervals())
        if (I.Begin < Next && Start < I.End)
          Add(std::max(I.Begin, Start) - Start, std::min(I.End, Next) - Start);
    };
    // Each code has its own copy of a global.
    if (P.What == PlanRange::Kind::Global && Base)
      addRestores(S, P, *Base, 0, P.chunks());
    else if (Base)
      Each(What.Restored, [&](uint64_t First, uint64_t End) {
        addRestores(S, P, *Base, First, End);
      });
    Each(What.Digested, [&](uint64_t First, uint64_t End) {
      addDigests(S, P, Base, First, End);
      addSketches(S, P, Base, First, End);
    });
    Start = Next;
  }
}

/// Stretches of memory with symbolic words, as they must be at a launch.
Error Runner::BatchRun::makePatches(Side &S, bool Original) {
  S.Arguments = L.Arguments;
  auto Found = R.collect(L, *S.Code, Original, S.Arguments);
  if (!Found)
    return Found.error();
  S.Patches = std::move(*Found);
  if (S.Patches.empty())
    return {};
  if (Error E = R.readStretches(S.Patches))
    return E;
  S.Stretches.assign(R.Scratch.At, R.Scratch.At + S.Patches.back().At +
                                       S.Patches.back().Size);
  for (Patch &P : S.Patches)
    for (Patch::Word &W : P.Words) {
      uint8_t *At = S.Stretches.data() + P.At + W.Offset;
      std::memcpy(&W.Recorded, At, 8);
      std::memcpy(At, &W.Resolved, 8);
    }
  return {};
}

Error Runner::BatchRun::makeSide(const std::string &Slot, Side &S) {
  if (Slot == EmptySlot) {
    auto Empty = D.emptyKernel();
    if (!Empty)
      return Empty.error();
    S.Kernel = *Empty;
    return queueLaunch(S); // sets what a first launch sets
  }
  auto Found = R.Codes.find(Slot);
  if (Found == R.Codes.end() || !Found->second.HasRun)
    return fail(ErrorCode::Usage, "no code has run as %s in this process",
                Slot.c_str());
  S.Code = &Found->second;
  S.Kernel = S.Code->Kernel;
  if (Error E = R.ensureLive(What.Launch, *S.Code))
    return E;
  if (Error E = R.restore(L, *S.Code, /*KeepPool=*/true))
    return E;
  R.Live.clear();
  for (const PlanRange &P : L.Ranges)
    R.Live.insert(R.Live.end(), P.Before.begin(), P.Before.end());
  makePieces(S);
  return makePatches(S, Slot == OriginalSlot);
}

Error Runner::BatchRun::prepare() {
  if (R.Memory.poolInHost())
    return fail(ErrorCode::NoSpace, "the device's memory does not hold the "
                                    "recordings twice, which timing needs");
  if (Error E = makeEvents())
    return E;
  uint64_t StretchBytes = 0, HashBytes = 0, SketchBytes = 0;
  for (const std::string &Slot : What.Slots) {
    auto [It, New] = Sides.try_emplace(Slot);
    Side &S = It->second;
    if (New) {
      if (Error E = makeSide(Slot, S))
        return E;
      S.StretchesAt = StretchBytes;
      StretchBytes += roundUp(S.Stretches.size());
    }
    Launches.push_back(&S);
    DigestsAt.push_back(HashBytes);
    HashBytes += S.Digests.bytes();
    SketchesAt.push_back(SketchBytes);
    SketchBytes += S.Sketches.bytes();
  }
  if (Error E = R.ensure(R.Stretches, StretchBytes))
    return E;
  for (const auto &[Slot, S] : Sides)
    std::copy(S.Stretches.begin(), S.Stretches.end(),
              R.Stretches.At + S.StretchesAt);
  if (Error E = R.ensure(R.Hashes, HashBytes))
    return E;
  if (Error E = R.ensure(R.Sketches, SketchBytes))
    return E;
  HasClocks = static_cast<bool>(D.clocks());
  return {};
}

// --- What is queued.

/// Memory as recorded, but for what is poisoned.
Error Runner::BatchRun::queueMemory(Side &S, uint8_t PoisonByte) {
  if (!S.Code)
    return {};
  for (const Side::Copy &C : S.Restores)
    if (Error E = C.From ? D.copy(C.To, C.From, C.Size, R.Stream)
                         : D.fill(C.To, GuardByte, C.Size, R.Stream))
      return E;
  for (const Patch &P : S.Patches)
    if (Error E = D.copyToDevice(P.Begin, R.Stretches.At + S.StretchesAt + P.At,
                                 P.Size, R.Stream))
      return E;
  return R.poison(What.Where, PoisonByte, L, *S.Code);
}

Error Runner::BatchRun::queueLaunch(Side &S) {
  return D.launch(S.Kernel,
                  S.Code ? S.Code->configOf(What.Launch, L.Config) : L.Config,
                  S.Arguments, R.Stream);
}

Error Runner::BatchRun::keepBusy(int Flushes) {
  for (int I = 0; I < Flushes; ++I)
    if (Error E = D.flushCache(R.Stream))
      return E;
  return {};
}

/// Whole: the batch is held as a whole.
Error Runner::BatchRun::queueTimed(size_t I, bool Whole) {
  Side &S = *Launches[I];
  const auto Byte = static_cast<uint8_t>(What.PoisonBytes[I]);
  Error E = queueMemory(S, Byte);
  if (!E && What.Mode == CacheMode::Warm) {
    E = queueLaunch(S);
    if (!E)
      E = queueMemory(S, Byte);
  }
  if (!E && !Whole)
    E = hold();
  if (!E && !Whole && I + 1 == Launches.size())
    E = D.record(start(), R.Stream);
  if (!E && flushes())
    E = D.flushCache(R.Stream);
  if (!E)
    E = D.record(before(I), R.Stream);
  if (!E)
    E = queueLaunch(S);
  if (!E)
    E = D.record(after(I), R.Stream);
  if (!Whole) {
    Released = Clock::now();
    release();
  }
  if (!E)
    E = S.Digests.queue(D, R.Hashes.At + DigestsAt[I], R.Stream);
  return E ? E : S.Sketches.queue(D, R.Sketches.At + SketchesAt[I], R.Stream);
}

/// The device has been released when this returns, failed or not.
Error Runner::BatchRun::queueAll(bool Whole,
                                 const std::function<void()> &Ready) {
  Error E;
  if (Whole) {
    E = hold();
    if (!E)
      E = D.record(start(), R.Stream);
  } else {
    Ready();
  }
  for (size_t I = 0; !E && I < Launches.size(); ++I)
    E = queueTimed(I, Whole);
  if (!E)
    E = D.record(stop(), R.Stream);
  if (!E && HasClocks)
    E = keepBusy(ClockFlushes);
  if (Whole) {
    if (!E)
      Ready();
    Released = Clock::now();
    release();
  }
  return E;
}

size_t Runner::BatchRun::operations() const {
  size_t Sum = 2 * ClockFlushes;
  for (const Side *S : Launches)
    Sum += S->operations(What.Where) * (What.Mode == CacheMode::Warm ? 2 : 1) +
           S->Digests.operations() + S->Sketches.operations() + 6;
  return Sum;
}

// --- While it runs, and after it.

ClockSample Runner::BatchRun::sample(std::string &Why) {
  auto Now = D.clocks();
  if (Now)
    return *Now;
  Why = Now.error().message();
  return {};
}

Error Runner::BatchRun::waitForStop() {
  if (!hasOwnClock())
    return D.waitFor(stop(), LaunchWaitMs);
  for (;;) {
    auto IsThere = D.query(stop());
    if (!IsThere)
      return IsThere.error();
    if (*IsThere)
      return {};
    std::this_thread::yield();
  }
}

Error Runner::BatchRun::readTimes(BatchTimes &Times) {
  for (size_t I = 0; I < Launches.size(); ++I) {
    auto Ms = D.elapsedMs(before(I), after(I));
    if (!Ms)
      return Ms.error();
    Times.Us.push_back(*Ms * 1e3);
  }
  auto All = D.elapsedMs(start(), stop());
  if (!All)
    return All.error();
  Times.EventsUs = *All * 1e3;
  return {};
}

/// What the host's clock says around nothing.
Error Runner::BatchRun::timeNothing(BatchTimes &Times) {
  Error E = hold();
  if (!E)
    E = D.record(stop(), R.Stream);
  Released = Clock::now();
  release();
  if (!E)
    E = waitForStop();
  Times.EmptyHostUs = usSince(Released);
  return E;
}

Error Runner::BatchRun::run(const std::function<void()> &Ready,
                            const std::function<void()> &Done,
                            BatchTimes &Times) {
  // Also allocates what a flush needs.
  if (HasClocks || flushes())
    if (Error E = keepBusy(HasClocks ? ClockFlushes : 1))
      return E;
  Times.Before = sample(Times.ClocksUnread);
  Error E = queueAll(operations() <= MostQueued, Ready);
  if (!E)
    E = waitForStop();
  Times.HostUs = usSince(Released);
  Done();
  if (E)
    return E;
  Times.After = sample(Times.ClocksUnread);
  if (Error Late = D.synchronize(R.Stream, WaitMs))
    return Late;
  if (Error Late = readTimes(Times))
    return Late;
  if (hasOwnClock())
    return timeNothing(Times);
  Times.EventsUs = Times.HostUs = 0;
  return {};
}

std::vector<Digest> Runner::BatchRun::digests() const {
  std::vector<Digest> Result;
  for (size_t I = 0; I < Launches.size(); ++I)
    for (const Side::Piece &P : Launches[I]->Digested)
      if (P.Number)
        Launches[I]->Digests.append(Result, *P.Number,
                                    R.Hashes.At + DigestsAt[I]);
      else
        Result.insert(Result.end(), P.Range->Before.begin() + P.First,
                      P.Range->Before.begin() + P.End);
  return Result;
}

std::vector<Sketch> Runner::BatchRun::sketches() const {
  std::vector<Sketch> Result;
  for (size_t I = 0; I < Launches.size(); ++I)
    Launches[I]->Sketches.append(Result, R.Sketches.At + SketchesAt[I]);
  return Result;
}

BatchResult Runner::runBatch(const BatchRequest &What,
                             const std::function<void()> &Ready,
                             const std::function<void()> &Done) {
  BatchResult Result;
  auto Failed = [&](const Error &E, Outcome Default) {
    Result.Run = failed(E, Default);
    return Result;
  };
  if (What.Launch >= Plan.Launches.size())
    return Failed(fail(ErrorCode::NotFound, "launch %zu of %zu", What.Launch,
                       Plan.Launches.size()),
                  Outcome::LaunchFailed);
  BatchRun Batch(*this, What);
  if (Error E = Batch.prepare())
    return Failed(E, Outcome::Crashed);
  Side &Last = Batch.last();
  if (Last.Code)
    LiveLaunch.reset();
  if (Error E = lock(Plan.Launches[What.Launch], What.Written))
    return Failed(E, Outcome::Crashed);
  if (Error E = Memory.openPool(MemoryAccess::Read))
    return Failed(E, Outcome::Crashed);
  if (Error E = Batch.run(Ready, Done, Result.Times)) {
    Failed(E, Outcome::LaunchFailed);
    // The device may be at work still, and reads the pool.
    Result.Run.Sticky = true;
    return Result;
  }
  if (Error E = Memory.closePool())
    return Failed(E, Outcome::Crashed);
  Result.Digests = Batch.digests();
  Result.Sketches = Batch.sketches();
  if (!Last.Code)
    return Result;
  LastSlot = What.Slots.back();
  if (Error Late = unpatch(Last.Patches))
    return Failed(Late, Outcome::Crashed);
  LiveLaunch.reset();
  if (Error Late = ensureLive(What.Launch, *Last.Code))
    return Failed(Late, Outcome::Crashed);
  Result.Run.Digests = Live;
  return Result;
}

} // namespace r3::replay
