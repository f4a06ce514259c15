// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of a launch: plan (count, classify, decide, under the kernel's
// lock), then either a record with the gate closed, or the launch alone,
// perhaps between two events.
#include "runtime/record/Recorder.h"
#include "runtime/record/Take.h"

#include <cstring>

namespace r3::record {

using Clock = std::chrono::steady_clock;

static uint64_t nanoseconds(Clock::duration D) {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(D).count());
}

static std::vector<uint8_t> gather(const UnitKernel &Info,
                                   void *const *Arguments) {
  std::vector<uint8_t> Bytes(Info.ArgumentBytes);
  for (size_t I = 0; I < Info.Parameters.size(); ++I) {
    const UnitParameter &P = Info.Parameters[I];
    if (Arguments && Arguments[I] && P.Offset + P.Size <= Bytes.size())
      std::memcpy(Bytes.data() + P.Offset, Arguments[I], P.Size);
  }
  return Bytes;
}

/// Tells launches apart by all that decides their class.
static uint64_t launchKey(const LaunchConfig &C,
                          std::span<const uint8_t> Arguments) {
  uint64_t Key = contentDigest(Arguments).Low;
  auto Mix = [&](uint64_t Value) {
    Key = (Key ^ Value) * 0x9e3779b97f4a7c15ull;
    Key ^= Key >> 29;
  };
  for (const Dim3 *Shape : {&C.Grid, &C.Block, &C.Cluster})
    for (uint32_t Size : *Shape)
      Mix(Size);
  Mix(uint64_t(C.DynamicShared) << 1 | C.Cooperative);
  return Key;
}

Recorder::Plan Recorder::plan(const LaunchRequest &Request, KernelState &K,
                              DeviceState &S) {
  Plan P{K, {}, {}, {}, 0, 0};
  bool Recordable = resolve(K, S);
  if (Recordable && K.Choice->isWanted())
    P.Arguments = gather(*K.Info, Request.Arguments);
  auto ClassOf = [&] {
    return argumentClass(Request.Config, P.Arguments, K.Info->Fields);
  };
  uint64_t Key = Recordable && K.Choice->isWanted()
                     ? launchKey(Request.Config, P.Arguments)
                     : 0;
  P.Choice = K.Choice->next(Key, ClassOf);
  if (P.Choice.Record)
    P.Class = ClassOf();
  P.Ordinal = K.Choice->launches() - 1;
  P.Kept = K.Stats.Recorded;
  ++K.Stats.Launches;
  update(K);
  return P;
}

/// Recording may hold the program for 3 s and a tenth of its time (a quarter
/// of a run of 20 s); what takes the place of another recording for a
/// twentieth. The first recording of a kernel is always made.
bool Recorder::mayPause(const Plan &P) const {
  if (Options.Exempt || !P.Kept)
    return true;
  uint64_t Elapsed = nanoseconds(Clock::now() - Started);
  if (P.Choice.Replaces)
    return PausedNs * 20 < Elapsed;
  return PausedNs < 3000000000 + Elapsed / 10;
}

uint64_t Recorder::limitLeft() const {
  uint64_t Queued = Out->bytesQueued();
  return Queued < Limit ? Limit - Queued : 0;
}

int Recorder::launch(const LaunchRequest &Request, OriginalLaunch Original) {
  KernelState *K = Off ? nullptr : Program.find(Request.Handle);
  // Nothing of ours may touch the device while a graph is being captured.
  bool Capturing = K && Captures > 0;
  DeviceState *S = K && !Capturing ? currentDevice() : nullptr;
  if (S)
    return launchSeen(Request, *K, *S, Original);
  if (Capturing)
    refuse(Request.Handle, Reason::GraphCapture);
  GatePass Pass(Door);
  return Original();
}

int Recorder::launchSeen(const LaunchRequest &Request, KernelState &K,
                         DeviceState &S, OriginalLaunch Original) {
  LaunchRequest Full = Request;
  std::unique_lock Guard(K.Lock);
  Full.Config.MaxDynamicShared = K.MaxDynamicShared;
  Full.Config.CacheConfig = K.CacheConfig;
  if (Full.Config.Carveout == 0xffffffffu)
    Full.Config.Carveout = K.Carveout;
  Plan P = plan(Full, K, S);
  Reason Refused = K.Refused;
  Guard.unlock();
  if (Refused == Reason::None)
    Refused = Request.Why;
  // By a library that is not instrumented.
  if ((P.Choice.Record || P.Choice.Sample) && S.D.isCapturing(Request.Stream)) {
    Refused = Reason::GraphCapture;
    P.Choice.Sample = false;
  }
  if (Refused != Reason::None)
    note(K, Refused, K.Code ? K.Code->Detail : std::string());
  int Result = 0;
  if (P.Choice.Record && Refused == Reason::None && mayPause(P) &&
      record(Full, P, S, Original, Result))
    return Result;
  return launchTimed(Full, P, S, Original);
}

int Recorder::launchTimed(const LaunchRequest &Request, Plan &P, DeviceState &S,
                          OriginalLaunch Original) {
  GatePass Pass(Door);
  Sampler::Pair Times;
  if (P.Choice.Sample) {
    S.Times.collect();
    Times = S.Times.begin(Request.Stream);
  }
  int Result = Original();
  if (!Times)
    return Result;
  if (Result)
    S.Times.cancel(Times);
  else
    S.Times.end(Times, Request.Stream,
                [this, &K = P.K, Cold = P.Ordinal == 0](uint64_t Ns) {
                  std::lock_guard Guard(K.Lock);
                  K.addTime(Ns, Cold);
                  update(K);
                });
  return Result;
}

/// True: the launch was made, with Result. False: nothing has happened yet.
bool Recorder::record(const LaunchRequest &Request, Plan &P, DeviceState &S,
                      OriginalLaunch Original, int &Result) {
  // Another thread's record is waited for as any call waits for it.
  if (!Recording.take(Options.TimeoutMs))
    return false;
  bool Launched = false;
  if (Out->broken())
    Off = true;
  else if (!Off)
    Launched = recordAlone(Request, P, S, Original, Result);
  Recording.give();
  return Launched;
}

/// With the turn to record. The gate closes for others.
bool Recorder::recordAlone(const LaunchRequest &Request, Plan &P,
                           DeviceState &S, OriginalLaunch Original,
                           int &Result) {
  Clock::time_point Begin = Clock::now();
  Attempt A;
  if (Door.close()) {
    attempt(Request, P, S, Original, A);
    Door.open();
  } else {
    A.Detail = "other threads did not leave the CUDA runtime";
    std::lock_guard Guard(P.K.Lock);
    P.K.Choice->dropped(P.Choice);
  }
  Result = A.Result;
  uint64_t Ns = nanoseconds(Clock::now() - Begin) - A.ProgramNs;
  PausedNs += Ns;
  {
    std::lock_guard Guard(P.K.Lock);
    P.K.Stats.PauseNs += Ns;
    update(P.K);
  }
  if (A.Why != Reason::None)
    note(P.K, A.Why, A.Detail);
  return A.Launched;
}

/// With the gate closed.
void Recorder::attempt(const LaunchRequest &Request, Plan &P, DeviceState &S,
                       OriginalLaunch Original, Attempt &A) {
  KernelState &K = P.K;
  Take T(*this, S, K, Request, std::move(P.Arguments));
  A.Why = T.before();
  if (A.Why == Reason::None) {
    A.Result = T.launch(Original);
    A.Launched = true;
    A.Why = T.after(A.Result);
  }
  A.Detail = T.detail();
  A.ProgramNs = T.programNs();
  std::lock_guard Guard(K.Lock);
  if (A.Why != Reason::None) {
    K.Choice->dropped(P.Choice);
    // Each such launch holds the program for the whole limit.
    if (A.Launched && A.Why == Reason::NotQuiet)
      K.Choice->giveUp();
    return;
  }
  if (T.durationNs())
    K.addTime(T.durationNs(), P.Ordinal == 0);
  if (!K.Choice->keep(P.Choice, T.changedMemory()))
    return;
  auto &Place = K.Kept[uint64_t(P.Choice.Class) << 32 | P.Choice.Slot];
  if (!Place)
    Place = std::make_shared<KeptRecording>();
  T.publish(P.Class, P.Ordinal, Place);
}

} // namespace r3::record
