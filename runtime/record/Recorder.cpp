// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of a launch: plan (count, classify, decide, under the kernel's
// lock), then either a record with the gate closed, or the launch alone,
// perhaps between two events.
#include "runtime/record/Recorder.h"

#include "runtime/record/Message.h"
#include "runtime/record/Take.h"
#include "runtime/support/Options.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/statvfs.h>
#include <unistd.h>

namespace r3::record {

using Clock = std::chrono::steady_clock;

static uint64_t nanoseconds(Clock::duration D) {
  return uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(D).count());
}

static thread_local int Ordinal = 0;
void Recorder::deviceChosen(int Chosen) { Ordinal = Chosen; }
int Recorder::currentOrdinal() { return Ordinal; }

// --- Start.

/// What may be written: the option, else 8 GB or a tenth of the free disk.
static uint64_t writeLimit(const std::string &Path, uint64_t Option) {
  if (Option)
    return Option;
  struct statvfs Disk;
  uint64_t Limit = 8ull << 30;
  if (!statvfs(Path.c_str(), &Disk))
    Limit = std::min<uint64_t>(Limit, Disk.f_bavail * Disk.f_frsize / 10);
  return Limit;
}

/// The rank of an MPI program, from its launcher.
static uint32_t processRank() {
  for (const char *Name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
        "SLURM_PROCID"})
    if (auto Value = systemVariable(Name))
      return uint32_t(std::strtoul(Value->c_str(), nullptr, 10));
  return 0;
}

static std::string programPath() {
  char Path[4096];
  ssize_t Size = readlink("/proc/self/exe", Path, sizeof(Path));
  return Size > 0 ? std::string(Path, size_t(Size)) : "unknown";
}

Recorder::Recorder(RecorderOptions Options, Surroundings Around,
                   Units &Program, std::unique_ptr<Saver> Out)
    : Options(std::move(Options)), Around(std::move(Around)),
      Program(Program), Out(std::move(Out)), Rank(processRank()),
      Started(Clock::now()), Door(this->Options.TimeoutMs) {}

Recorder::~Recorder() { Out->close(); }

Expected<std::unique_ptr<Recorder>> Recorder::create(RecorderOptions Options,
                                                     Surroundings Around,
                                                     Units &Program) {
  auto Out = Saver::open(Options.StorePath, Options.Writers);
  if (!Out)
    return Out.error();
  std::unique_ptr<Recorder> R(new Recorder(
      std::move(Options), std::move(Around), Program, std::move(*Out)));
  const Store &Files = R->Out->store();
  if (Error E = R->Out->runOnWriter([&] { return R->openStatistics(); }))
    return E;
  R->Limit = writeLimit(Files.path(), R->Options.LimitBytes);
  // r3 record, which gives the run its name, has said it.
  if (R->Options.Run.empty())
    say(format("recording into %s, at most %.1f GB (R3_RECORD_LIMIT)",
               Files.path().c_str(), R->Limit / 1e9));
  return R;
}

/// Several processes of one run share its name: the first takes it, the
/// others add their process id.
Error Recorder::openStatistics() {
  RunStats Header;
  Header.Pid = uint32_t(getpid());
  Header.Rank = Rank;
  auto Now = std::chrono::system_clock::now().time_since_epoch();
  Header.StartedAtNs = uint64_t(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Now).count());
  Header.LastUpdateNs = Header.StartedAtNs;
  Header.Program = programPath();
  std::string Name = Options.Run;
  if (Name.empty())
    Name = format("%llu-%d",
                  static_cast<unsigned long long>(Header.StartedAtNs /
                                                  1000000000),
                  getpid());
  std::string Path = Out->store().runPath(Name);
  int Claim = open(Path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (Claim >= 0)
    close(Claim);
  else
    Path = Out->store().runPath(Name + "-" + std::to_string(getpid()));
  auto Writer = RunStatsWriter::create(Path, Header);
  if (!Writer)
    return Writer.error();
  Statistics = std::move(*Writer);
  return Error::success();
}

// --- Devices.

DeviceState *Recorder::currentDevice() {
  {
    std::shared_lock Guard(DevicesLock);
    for (auto &S : Devices)
      if (S->D.isCurrent())
        return S->Dead ? nullptr : S.get();
  }
  return attachDevice();
}

DeviceState *Recorder::attachDevice() {
  // A context may come into being with the launch itself: tried again later,
  // but not for ever.
  constexpr unsigned MaxFailures = 16;
  if (AttachFailures >= MaxFailures)
    return nullptr;
  std::unique_lock Guard(DevicesLock);
  for (auto &S : Devices)
    if (S->D.isCurrent())
      return S->Dead ? nullptr : S.get();
  Expected<std::shared_ptr<Device>> D = Around.Attach();
  Error Failure = D ? Error::success() : D.error();
  if (!Failure) {
    Expected<StreamHandle> Own = (*D)->createStream();
    if (Own) {
      Devices.push_back(
          std::make_unique<DeviceState>(*D, *Own, Options.TimeoutMs));
      Statistics->setDevice(Devices.back()->Identity.Key);
      Devices.back()->Slabs.prepare(Memory.liveBytes());
      return Devices.back().get();
    }
    Failure = Own.error();
  }
  if (++AttachFailures == MaxFailures ||
      Failure.code() == ErrorCode::CannotRunHere)
    switchOff(Failure.message());
  return nullptr;
}

void Recorder::beforeReset() {
  DeviceState *S = currentDevice();
  bool Alone = Recording.take(Options.TimeoutMs);
  Out->drain();
  Memory.removeDevice(Ordinal);
  if (S && Alone)
    release(*S);
  if (Alone)
    Recording.give();
}

/// Gives up what lies in the context. The object stays: another thread may
/// hold it.
void Recorder::release(DeviceState &S) {
  S.Dead = true;
  Known.forget(S.D);
  S.Times.releaseAll();
  S.Reader.releaseAll();
  S.Slabs.releaseAll();
  std::unique_lock Guard(DevicesLock);
  auto It = std::find_if(Devices.begin(), Devices.end(),
                         [&](const auto &D) { return D.get() == &S; });
  if (It == Devices.end())
    return;
  Gone.push_back(std::move(*It));
  Devices.erase(It);
}

// --- What the intercepted functions tell.

void Recorder::allocated(Address Begin, uint64_t Size, MemoryKind Kind,
                         bool Imported) {
  Memory.add({Begin, Size, Kind, Ordinal, Imported, {}});
  if (Captures > 0 || Off)
    return;
  // Staging memory for it is made while the program fills it.
  if (DeviceState *S = currentDevice())
    S->Slabs.prepare(Memory.liveBytes());
}

void Recorder::imported(Address Begin) {
  uint64_t Size = 1;
  if (DeviceState *S = currentDevice())
    if (Expected<AddressRange> Range = S->D.allocationOf(Begin))
      Size = Range->Begin + Range->Size - Begin;
  Memory.add({Begin, Size, MemoryKind::Device, Ordinal, /*Imported=*/true, {}});
}

void Recorder::streamCreated(StreamHandle Stream) {
  DeviceState *S = currentDevice();
  Known.created(Stream, S ? &S->D : nullptr);
}

void Recorder::workIssued(StreamHandle Stream) {
  if (Stream != PerThreadStream || Captures > 0 || Off)
    return;
  if (DeviceState *S = currentDevice())
    Known.usedOwnStream(S->D);
}

void Recorder::collect() {
  if (Captures > 0 || Off)
    return;
  std::shared_lock Guard(DevicesLock);
  for (auto &S : Devices)
    if (S->Times.hasPending() && S->D.isCurrent() && !S->Dead)
      S->Times.collect();
}

void Recorder::refuse(const void *Handle, Reason Why) {
  KernelState *K = Program.find(Handle);
  if (!K)
    return;
  DeviceIdentity Where; // that of any device names the kernel well enough
  {
    std::shared_lock Guard(DevicesLock);
    if (!Devices.empty())
      Where = Devices.front()->Identity;
  }
  {
    std::lock_guard Guard(K->Lock);
    identify(*K, Where);
    describe(*K);
    ++K->Stats.Launches;
  }
  note(*K, Why, {});
}

void Recorder::configure(const void *Handle,
                         const std::function<void(KernelState &)> &Change) {
  if (KernelState *K = Program.find(Handle)) {
    std::lock_guard Guard(K->Lock);
    Change(*K);
  }
}

void Recorder::drain() { Out->drain(); }

void Recorder::finish() {
  Off = true;
  // A record that is stuck is left behind; what was queued is saved.
  bool Alone = Recording.take(Options.TimeoutMs);
  Out->drain();
  if (!Alone)
    return;
  Out->close();
  Recording.give();
}

void Recorder::switchOff(const std::string &Why) {
  if (!Off.exchange(true))
    say("recording is off from here on: " + Why);
}

// --- Kernels.

/// Gives the kernel a line in the statistics. Under its lock.
void Recorder::describe(KernelState &K) {
  if (K.Slot != RunStatsWriter::MaxKernels)
    return;
  K.Stats.Key = K.Code ? K.Code->Key : "";
  K.Stats.Name = K.Info && !K.Info->Display.empty() ? K.Info->Display : K.Name;
  std::lock_guard Guard(SlotsLock);
  K.Slot = Statistics->addKernel(K.Stats.Key, K.Stats.Name);
}

void KernelState::addTime(uint64_t Ns, bool Cold) {
  if (Cold && Stats.Sampled)
    return;
  if (OnlyCold)
    Stats.Sampled = Stats.SampledNs = 0;
  OnlyCold = Cold;
  ++Stats.Sampled;
  Stats.SampledNs += Ns;
}

void Recorder::update(KernelState &K) {
  if (K.Slot < RunStatsWriter::MaxKernels)
    Statistics->update(K.Slot, K.Stats);
}

void Recorder::note(KernelState &K, Reason Why, const std::string &Detail) {
  std::string Name;
  {
    std::lock_guard Guard(K.Lock);
    K.Stats.LastReason = uint32_t(Why);
    ++K.Stats.ReasonCount;
    update(K);
    Name = K.Stats.Name;
  }
  std::string Text = Name + ": not recorded: " +
                     std::string(reasonDescription(Why));
  // Said once for each reason: details differ from launch to launch.
  static std::mutex *Lock = new std::mutex;
  static auto *Said = new std::set<std::string>;
  {
    std::lock_guard Guard(*Lock);
    if (!Said->insert(Text).second)
      return;
  }
  say(Detail.empty() ? Text : Text + " (" + Detail + ")");
}

static bool isNamed(const std::vector<std::string> &Wanted,
                    const std::string &Name, const std::string &Display) {
  return Wanted.empty() ||
         std::any_of(Wanted.begin(), Wanted.end(), [&](const std::string &W) {
           return Name.find(W) != std::string::npos ||
                  Display.find(W) != std::string::npos;
         });
}

/// Why the kernel can never be recorded on this device. A kernel that needs a
/// device link is recorded: its replay waits for that.
static Reason staticReason(const KernelState &K, const DeviceIdentity &Where) {
  if (!K.Code || !K.Module)
    return Reason::NoBitcode;
  Expected<Reason> Why = parseReason(K.Code->Reason);
  if (!Why || *Why == Reason::DeviceLink)
    return Reason::None;
  if (*Why == Reason::InlineAsm && Where.Backend != "cpu")
    return Reason::None;
  return *Why;
}

/// Reads what the kernel is from its unit's descriptor. Under its lock.
void Recorder::identify(KernelState &K, const DeviceIdentity &Where) {
  if (K.Unit)
    return;
  if (Expected<LoadedUnit *> Unit = Program.load(K.Table)) {
    K.Unit = *Unit;
    K.Info = K.Unit->Unit->findKernel(K.Name);
    K.Module = K.Unit->moduleFor(Where.Arch);
  } else {
    sayOnce("cannot read the descriptor of a unit: " + Unit.error().message());
  }
  if (K.Info && K.Module)
    if (auto It = K.Info->Code.find(K.Module->Arch); It != K.Info->Code.end())
      K.Code = &It->second;
}

/// At the kernel's first launch. Under its lock. False where it cannot be
/// recorded.
bool Recorder::resolve(KernelState &K, DeviceState &S) {
  if (K.Choice)
    return K.Refused == Reason::None;
  identify(K, S.Identity);
  PolicyOptions P = Options.Policy;
  K.Refused = staticReason(K, S.Identity);
  P.Wanted = K.Refused == Reason::None &&
             isNamed(Options.Kernels, K.Name, K.Info->Display);
  K.Choice.emplace(P, Options.Seed ^ std::hash<std::string>()(K.Name));
  describe(K);
  return K.Refused == Reason::None;
}

// --- Launches.

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
  std::vector<uint8_t> Bytes;
  Bytes.reserve(Arguments.size() + 64);
  auto Add = [&](const auto &Value) {
    const auto *At = reinterpret_cast<const uint8_t *>(&Value);
    Bytes.insert(Bytes.end(), At, At + sizeof(Value));
  };
  Add(C.Grid);
  Add(C.Block);
  Add(C.Cluster);
  Add(C.DynamicShared);
  Add(C.Cooperative);
  Bytes.insert(Bytes.end(), Arguments.begin(), Arguments.end());
  return contentDigest(Bytes).Low;
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
  Capturing = Capturing || (S && S->D.isCapturing(Request.Stream));
  if (Capturing) {
    refuse(Request.Handle, Reason::GraphCapture);
  } else if (S) {
    LaunchRequest Full = Request;
    std::unique_lock Guard(K->Lock);
    Full.Config.MaxDynamicShared = K->MaxDynamicShared;
    Full.Config.CacheConfig = K->CacheConfig;
    if (Full.Config.Carveout == 0xffffffffu)
      Full.Config.Carveout = K->Carveout;
    Plan P = plan(Full, *K, *S);
    Reason Refused = K->Refused;
    Guard.unlock();
    if (Refused == Reason::None)
      Refused = Request.Why;
    if (Refused != Reason::None)
      note(*K, Refused, K->Code ? K->Code->Detail : std::string());
    int Result = 0;
    if (P.Choice.Record && Refused == Reason::None && mayPause(P) &&
        record(Full, P, *S, Original, Result))
      return Result;
    return launchTimed(Full, P, *S, Original);
  }
  GatePass Pass(Door);
  return Original();
}

int Recorder::launchTimed(const LaunchRequest &Request, Plan &P,
                          DeviceState &S, OriginalLaunch Original) {
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

bool Recorder::recordAlone(const LaunchRequest &Request, Plan &P,
                           DeviceState &S, OriginalLaunch Original,
                           int &Result) {
  Clock::time_point Begin = Clock::now();
  KernelState &K = P.K;
  bool Launched = false;
  Reason Why = Reason::NotQuiet;
  uint64_t ProgramNs = 0;
  std::string Detail = "other threads did not leave the CUDA runtime";
  if (Door.close()) {
    Take T(*this, S, K, Request, std::move(P.Arguments));
    Why = T.before();
    if (Why == Reason::None) {
      Result = T.launch(Original);
      Launched = true;
      Why = T.after(Result);
    }
    Detail = T.detail();
    ProgramNs = T.programNs();
    std::unique_lock Guard(K.Lock);
    if (Why == Reason::None) {
      auto &Place = K.Kept[uint64_t(P.Choice.Class) << 32 | P.Choice.Slot];
      if (!Place)
        Place = std::make_shared<KeptRecording>();
      K.Choice->kept(P.Choice);
      if (T.durationNs())
        K.addTime(T.durationNs(), P.Ordinal == 0);
      T.publish(P.Class, P.Ordinal, Place);
    } else {
      K.Choice->dropped(P.Choice);
      // Each such launch holds the program for the whole limit.
      if (Launched && Why == Reason::NotQuiet)
        K.Choice->giveUp();
    }
    Guard.unlock();
  }
  Door.open();
  uint64_t Ns = nanoseconds(Clock::now() - Begin) - ProgramNs;
  PausedNs += Ns;
  std::unique_lock Guard(K.Lock);
  K.Stats.PauseNs += Ns;
  update(K);
  Guard.unlock();
  if (Why != Reason::None)
    note(K, Why, Detail);
  return Launched;
}

} // namespace r3::record
