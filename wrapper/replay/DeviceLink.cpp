// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Deadlines are measured here, outside the process that runs variants.
#include "wrapper/replay/DeviceLink.h"

#include "wrapper/replay/ReadOnly.h"

#include <algorithm>
#include <csignal>
#include <poll.h>

namespace r3::replay {

namespace {

constexpr int OpenMs = 120000; // the first cuInit after a boot is slow
constexpr int StepMs = 60000;
constexpr int DescriptorMs = 30000;
constexpr int MostConflicts = 16;
/// How long a child that closed its socket may take to become a status.
constexpr std::chrono::milliseconds EndMs(2000);

/// What the child needs of the environment, and nothing more: no keys, no
/// paths of the store. (The driver keeps translated code below HOME.)
const std::vector<std::string> DeviceVariables = {
    "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER",  "NVIDIA_VISIBLE_DEVICES",
    "CUDA_CACHE_PATH",      "CUDA_CACHE_MAXSIZE", "HOME",
    "LD_LIBRARY_PATH",      "R3_CPU_THREADS",     "ASAN_OPTIONS",
    "UBSAN_OPTIONS",        "TSAN_OPTIONS"};

bool isFaultSignal(int Signal) {
  return Signal == SIGSEGV || Signal == SIGBUS || Signal == SIGILL ||
         Signal == SIGFPE || Signal == SIGTRAP;
}

} // namespace

/// Its end of the socket is closed: it has ended or is about to.
bool DeviceLink::childIsGone() const {
  if (!Link)
    return true;
  pollfd P{Link->readFd(), POLLIN, 0};
  return poll(&P, 1, 0) > 0 && (P.revents & POLLHUP);
}

pid_t DeviceLink::childPid() const { return Runs ? Runs->pid() : -1; }

int DeviceLink::patienceMs() const {
  // 100 MB/s at the slowest.
  const uint64_t Bytes = Plan ? Plan->segmentBytes() + Plan->PoolBytes : 0;
  return StepMs + static_cast<int>(std::min<uint64_t>(Bytes / 100000, 1 << 30));
}

Error DeviceLink::start() {
  Link.reset();
  Runs.reset();
  for (auto &[Slot, C] : Codes)
    C.Loaded = false;
  auto Started = Child::start({Setup.Program, DeviceVariables,
                               /*PassDescriptors=*/true, Setup.Launcher},
                              All);
  if (!Started)
    return Started.error();
  Runs.emplace(std::move(*Started));
  Fresh = true;
  const int Fd = Runs->releaseProtocol();
  Link.emplace(Fd, Fd);
  const FileAccess Files = Setup.Files.value_or(FileAccess());
  auto Reply = ask(Message("open")
                       .text("backend", Setup.Backend)
                       .number("device", static_cast<uint64_t>(Setup.Ordinal))
                       .flag("confine", Setup.Files.has_value())
                       .texts("readable", Files.Readable)
                       .texts("writable", Files.Writable)
                       .json(),
                   {}, OpenMs);
  if (!Reply)
    return Reply.error().in("opening the " + Setup.Backend + " device");
  if (const json::Value *Object = json::object(Reply->Header, "identity"))
    Identity = readIdentity(*Object);
  Granularity = json::number(Reply->Header, "granularity", 0);
  Alignment = json::number(Reply->Header, "alignment", 0);
  if (const json::Value *Object = json::object(Reply->Header, "limits"))
    Limits = readLimits(*Object);
  if (!Granularity || Alignment % Granularity)
    return fail(ErrorCode::Damaged,
                "the device answers with granularity %llu, alignment %llu",
                static_cast<unsigned long long>(Granularity),
                static_cast<unsigned long long>(Alignment));
  return {};
}

Error DeviceLink::open() {
  Error E = start();
  if (const std::string Words = E ? endMessage() : ""; !Words.empty())
    return Error(E.code(), E.message() + ": " + Words);
  return E;
}

std::string DeviceLink::endMessage() {
  if (!Runs || !childIsGone())
    return {};
  const ExitStatus Status = Runs->end(EndMs);
  return describe(Status) + " " + Runs->lastWords();
}

std::string DeviceLink::finish(std::chrono::milliseconds Patience) {
  Link.reset();
  if (!Runs)
    return {};
  (void)Runs->end(Patience);
  std::string Output = Runs->output();
  Runs.reset();
  return Output;
}

/// A child that has reserved the plan's addresses. Where one is taken, the
/// next process has other addresses.
Error DeviceLink::startWithMemory() {
  const std::vector<uint8_t> Blob = Plan->serialize();
  std::string Last;
  for (int Try = 0; Try < MostConflicts; ++Try) {
    if (!Link || !Fresh)
      if (Error E = start())
        return E;
    Fresh = false;
    if (Error E = send(Message("plan").json(), Blob))
      return E;
    auto Reply = receive(StepMs);
    if (Reply)
      return {};
    if (!childIsGone())
      return Reply.error();
    const ExitStatus Status = Runs->end(EndMs);
    Last = Runs->lastWords();
    Link.reset();
    Runs.reset();
    if (Status.Code != ConflictStatus || Status.Signal)
      return fail(ErrorCode::Failed, "the device process ended: %s %s",
                  describe(Status).c_str(), Last.c_str());
  }
  return fail(ErrorCode::CannotRunHere,
              "the recorded addresses are not to be had in %d starts: %s",
              MostConflicts, Last.c_str());
}

Error DeviceLink::load(ReplayPlan NewPlan, std::span<const int> Packs) {
  unload();
  Plan = std::move(NewPlan);
  Error E = startWithMemory();
  if (!E)
    E = create(Packs);
  if (E)
    unload();
  return E;
}

Error DeviceLink::loadPlain(ReplayPlan NewPlan) {
  unload();
  Plan = std::move(NewPlan);
  if (Error E = Link ? Error() : start())
    return E;
  Fresh = false;
  auto Reply = ask(Message("plan").flag("plain", true).json(),
                   Plan->serialize(), StepMs);
  return Reply ? Error() : Reply.error();
}

void DeviceLink::unload() {
  if (!Fresh) {
    Link.reset();
    Runs.reset();
  }
  Plan.reset();
  Memory.clear();
  Codes.clear();
}

void DeviceLink::takeCodes(const DeviceLink &From,
                           const std::vector<size_t> &Origins) {
  Codes = From.Codes;
  for (auto &[Slot, C] : Codes) {
    C.Loaded = false;
    if (C.Launches.empty())
      continue;
    const std::vector<LaunchConfig> Recorded = std::move(C.Launches);
    C.Launches.clear();
    for (size_t Origin : Origins)
      C.Launches.push_back(Recorded.at(Origin));
  }
}

Error DeviceLink::sendPacks(std::span<const int> Fds) {
  if (Error E =
          send(Message("fill").number("descriptors", Fds.size()).json(), {}))
    return E;
  if (Error E = sendDescriptors(Runs->descriptors(), Fds))
    return E;
  auto Reply = receive(patienceMs());
  return Reply ? Error() : Reply.error();
}

Error DeviceLink::create(std::span<const int> Packs) {
  auto Reply = ask(Message("create").json(), {}, patienceMs());
  if (!Reply)
    return Reply.error();
  HostPool = json::boolean(Reply->Header, "hostPool", false);
  const uint64_t Count = json::number(Reply->Header, "descriptors", 0);
  if (Count != Plan->Segments.size() + 1)
    return fail(ErrorCode::Damaged, "%llu descriptors for %zu segments",
                static_cast<unsigned long long>(Count), Plan->Segments.size());
  auto Fds = receiveDescriptors(Runs->descriptors(), Count, DescriptorMs);
  if (!Fds)
    return Fds.error();
  Memory = std::move(*Fds);
  return sendPacks(Packs).in("loading recorded memory");
}

Error DeviceLink::adopt() {
  if (Error E = send(Message("adopt")
                         .flag("hostPool", HostPool)
                         .number("descriptors", Memory.size())
                         .json(),
                     {}))
    return E;
  std::vector<int> Fds;
  for (const OwnedFd &Fd : Memory)
    Fds.push_back(Fd.get());
  if (Error E = sendDescriptors(Runs->descriptors(), Fds))
    return E;
  auto Reply = receive(patienceMs());
  return Reply ? Error() : Reply.error();
}

Error DeviceLink::ensure() {
  if (Link)
    return {};
  if (!Plan)
    return fail(ErrorCode::Usage, "no recordings are loaded");
  if (Error E = startWithMemory())
    return E.in("starting a new device process");
  return adopt().in("starting a new device process");
}

Error DeviceLink::send(std::string Json, std::vector<uint8_t> Blob) {
  Frame F;
  F.Id = NextId++;
  F.Json = std::move(Json);
  F.Blob = std::move(Blob);
  return Link->send(F);
}

Expected<DeviceLink::Answer> DeviceLink::receive(int TimeoutMs) {
  auto F = Link->receive(TimeoutMs);
  if (!F)
    return F.error();
  if (F->Id + 1 != NextId)
    return fail(ErrorCode::Damaged, "an answer to another request");
  auto Header = json::parse(F->Json, "device process");
  if (!Header)
    return Header.error();
  if (Error E = replyError(*Header))
    return E;
  return Answer{std::move(*Header), std::move(F->Blob)};
}

Expected<DeviceLink::Answer>
DeviceLink::ask(std::string Json, std::vector<uint8_t> Blob, int TimeoutMs) {
  if (Error E = send(std::move(Json), std::move(Blob)))
    return E;
  return receive(TimeoutMs);
}

DeviceLink::Loss DeviceLink::lose(const Error &Why, Outcome OnTimeout) {
  Loss L;
  if (!Runs)
    return {Outcome::Crashed, Why.message()};
  const ExitStatus Status =
      Runs->end(childIsGone() ? EndMs : std::chrono::milliseconds(0));
  const std::string Words = Runs->lastWords();
  if (Why.code() == ErrorCode::Timeout) {
    L.Ending = OnTimeout;
    L.Message = Why.message();
  } else if (Status.Signal && !Status.TimedOut) {
    L.Ending = isFaultSignal(Status.Signal) ? Outcome::IllegalAccess
                                            : Outcome::Crashed;
    L.Message = "the device process died: " + describe(Status);
    L.DeniedAt = deniedWrite(Words);
  } else {
    L.Message =
        "the device process ended: " + describe(Status) + ", " + Why.message();
  }
  if (!Words.empty())
    L.Message += ": " + Words;
  Link.reset();
  Runs.reset();
  return L;
}

Attempt DeviceLink::lost(const Error &Why, Outcome OnTimeout) {
  Loss L = lose(Why, OnTimeout);
  Attempt A;
  A.Ending = L.Ending;
  A.Message = std::move(L.Message);
  A.DeniedAt = L.DeniedAt;
  return A;
}

Attempt DeviceLink::loadCode(const std::string &Slot, Code &C) {
  std::vector<std::string> Launches;
  for (const LaunchConfig &L : C.Launches)
    Launches.push_back(launchJson(L));
  auto Reply = ask(Message("code")
                       .text("slot", Slot)
                       .text("kernel", C.Kernel)
                       .raws("launches", Launches)
                       .json(),
                   C.Image, StepMs);
  if (!Reply)
    return lost(Reply.error(), Outcome::LaunchFailed);
  Attempt A;
  A.Message = json::text(Reply->Header, "message", "");
  auto Ending = parseOutcome(json::text(Reply->Header, "outcome", ""));
  A.Ending = Ending ? *Ending : Outcome::Crashed;
  A.Registers =
      static_cast<uint32_t>(json::number(Reply->Header, "registers", 0));
  A.Shared = static_cast<uint32_t>(json::number(Reply->Header, "shared", 0));
  C.Threads = static_cast<uint32_t>(json::number(Reply->Header, "threads", 0));
  C.Shared = A.Shared;
  C.Loaded = A.ok();
  if (json::boolean(Reply->Header, "sticky", false))
    (void)lose(Error(ErrorCode::Timeout, "replaced"), A.Ending);
  return A;
}

LaunchLimits DeviceLink::limits(const std::string &Slot) const {
  LaunchLimits L = Limits;
  if (auto C = Codes.find(Slot); C != Codes.end()) {
    if (C->second.Threads)
      L.Threads = std::min(L.Threads, C->second.Threads);
    L.StaticShared = C->second.Shared;
  }
  return L;
}

Attempt DeviceLink::setCode(const std::string &Slot, std::vector<uint8_t> Image,
                            const std::string &Kernel,
                            std::vector<LaunchConfig> Launches) {
  Codes.erase(Slot);
  if (Error E = ensure())
    return lost(E);
  Code C;
  C.Image = std::move(Image);
  C.Kernel = Kernel;
  C.Launches = std::move(Launches);
  Attempt A = loadCode(Slot, C);
  if (A.ok())
    Codes[Slot] = std::move(C);
  return A;
}

/// Digests, and what was traced.
Error DeviceLink::readResults(const Answer &Reply, Attempt &A) {
  ByteReader In(Reply.Blob, "results of a launch");
  const uint64_t Count = json::number(Reply.Header, "digests", 0);
  for (uint64_t I = 0; I < Count && !In.failed(); ++I)
    A.Digests.push_back(In.digest());
  if (In.left())
    A.Traced = Footprint::read(In);
  return In.finish();
}

Attempt DeviceLink::loadIfNot(const std::string &Slot) {
  auto C = Codes.find(Slot);
  return C != Codes.end() && !C->second.Loaded ? loadCode(Slot, C->second)
                                               : Attempt();
}

std::optional<DeviceLink::Answer> DeviceLink::receiveRun(uint64_t DeadlineMs,
                                                         Attempt &Why) {
  // Restore, launch, digests: each with a deadline of its own.
  int TimeoutMs = patienceMs();
  bool Launching = false;
  for (;;) {
    auto Reply = receive(TimeoutMs);
    if (!Reply && Launching && Reply.error().code() == ErrorCode::Timeout)
      Why =
          lost(fail(ErrorCode::Timeout, "the kernel did not end within %llu ms",
                    static_cast<unsigned long long>(DeadlineMs)),
               Outcome::Timeout);
    else if (!Reply)
      Why = lost(Reply.error());
    if (!Reply)
      return std::nullopt;
    const std::string Verb = json::text(Reply->Header, "verb", "");
    Launching = Verb == "launching";
    TimeoutMs = Launching ? static_cast<int>(DeadlineMs) : patienceMs();
    if (Verb == "reply")
      return std::move(*Reply);
  }
}

Attempt DeviceLink::endingOf(const Answer &Reply) {
  auto Ending = parseOutcome(json::text(Reply.Header, "outcome", ""));
  if (!Ending)
    return lost(Ending.error());
  Attempt A;
  A.Ending = *Ending;
  A.Message = json::text(Reply.Header, "message", "");
  if (json::boolean(Reply.Header, "sticky", false))
    (void)lose(Error(ErrorCode::Timeout, "replaced"), A.Ending);
  return A;
}

Attempt DeviceLink::run(const RunRequest &R) {
  if (Error E = ensure())
    return lost(E);
  if (Attempt A = loadIfNot(R.Slot); !A.ok())
    return A;
  if (Error E = send(Message("run")
                         .number("launch", R.Launch)
                         .text("slot", R.Slot)
                         .flag("flush", R.Flush)
                         .flag("dry", R.Dry)
                         .flag("trace", R.Trace)
                         .flag("count", R.Count)
                         .number("seed", R.RoundSeed)
                         .number("order", R.OrderSeed)
                         .number("poison", R.PoisonByte)
                         .flag("scratch", R.Scratch)
                         .numbersIf("written", R.Written)
                         .json(),
                     R.Where ? R.Where->serialize() : std::vector<uint8_t>()))
    return lost(E);
  Attempt Why;
  auto Reply = receiveRun(R.DeadlineMs, Why);
  if (!Reply)
    return Why;
  Attempt A = endingOf(*Reply);
  A.Ns = json::real(Reply->Header, "ns", 0);
  A.LockedBytes = json::number(Reply->Header, "locked", 0);
  if (const json::Value *Counted = json::object(Reply->Header, "counted"))
    A.Counted = readOperations(*Counted);
  A.Ms = readTimes(Reply->Header);
  if (Error E = readResults(*Reply, A))
    return lost(E);
  return A;
}

Attempt DeviceLink::runPlain(size_t Launch, const std::string &Slot,
                             const PlainLaunch &Plain,
                             std::span<const int> Packs, uint64_t DeadlineMs) {
  if (!Link)
    return lost(fail(ErrorCode::Failed, "the device process is gone"));
  if (Attempt A = loadIfNot(Slot); !A.ok())
    return A;
  Error E = send(Message("plain")
                     .number("launch", Launch)
                     .text("slot", Slot)
                     .number("descriptors", Packs.size())
                     .json(),
                 Plain.serialize());
  if (!E)
    E = sendDescriptors(Runs->descriptors(), Packs);
  if (E)
    return lost(E);
  Attempt Why;
  auto Reply = receiveRun(DeadlineMs, Why);
  return Reply ? endingOf(*Reply) : Why;
}

BatchAttempt DeviceLink::runBatch(const BatchRequest &What,
                                  uint64_t DeadlineMs) {
  BatchAttempt B;
  auto Lost = [&](const Error &E) {
    B.Run = lost(E);
    return B;
  };
  if (Error E = ensure())
    return Lost(E);
  for (const std::string &Slot : What.Slots)
    if (B.Run = loadIfNot(Slot); !B.Run.ok())
      return B;
  if (Error E = send(What.json(), What.blob()))
    return Lost(E);
  auto Reply = receiveRun(DeadlineMs, B.Run);
  if (!Reply)
    return B;
  B.Run = endingOf(*Reply);
  if (!B.Run.ok())
    return B;
  if (const json::Value *Times = json::object(Reply->Header, "times"))
    B.Times = BatchTimes::parse(*Times);
  ByteReader In(Reply->Blob, "results of a batch");
  const uint64_t Count = json::number(Reply->Header, "digests", 0);
  for (uint64_t I = 0; I < Count && !In.failed(); ++I)
    B.Run.Digests.push_back(In.digest());
  const uint64_t Timed = json::number(Reply->Header, "timed", 0);
  for (uint64_t I = 0; I < Timed && !In.failed(); ++I)
    B.Digests.push_back(In.digest());
  while (In.left() && !In.failed())
    B.Sketches.push_back(readSketch(In));
  if (Error E = In.finish())
    return Lost(E);
  return B;
}

Expected<RatesReport> DeviceLink::rates() {
  if (!Link)
    if (Error E = Plan ? ensure() : start())
      return E;
  auto Reply = ask(Message("rates").json(), {}, patienceMs());
  if (!Reply)
    return Error(Reply.error().code(),
                 lose(Reply.error(), Outcome::Crashed).Message);
  return readRates(Reply->Header);
}

Expected<size_t> DeviceLink::changedPristine() {
  if (Error E = ensure())
    return E;
  auto Reply = ask(Message("pool").json(), {}, patienceMs());
  if (!Reply)
    return Error(Reply.error().code(),
                 lose(Reply.error(), Outcome::Crashed).Message);
  Attempt Got;
  if (Error E = readResults(*Reply, Got))
    return E;
  std::map<uint64_t, Digest> Planned; // by offset in the pool
  for (const PlanLaunch &L : Plan->Launches)
    for (const PlanRange &P : L.Ranges)
      for (size_t I = 0; I < P.PoolOffset.size(); ++I)
        Planned[P.PoolOffset[I]] = P.Before[I];
  if (Got.Digests.size() != Plan->Pool.size())
    return fail(ErrorCode::Damaged, "%zu digests of %zu pristine copies",
                Got.Digests.size(), Plan->Pool.size());
  size_t Changed = 0;
  for (size_t I = 0; I < Got.Digests.size(); ++I)
    Changed += Got.Digests[I] != Planned[Plan->Pool[I].Offset];
  return Changed;
}

Expected<std::vector<uint8_t>>
DeviceLink::read(size_t Launch, size_t Range,
                 const std::vector<uint64_t> &Chunks) {
  if (!Link)
    return fail(ErrorCode::Failed, "the device process is gone");
  auto Reply = ask(Message("read")
                       .number("launch", Launch)
                       .number("range", Range)
                       .numbers("chunks", Chunks)
                       .json(),
                   {}, patienceMs());
  if (!Reply)
    return Error(ErrorCode::Failed,
                 lose(Reply.error(), Outcome::Crashed).Message);
  return std::move(Reply->Blob);
}

} // namespace r3::replay
