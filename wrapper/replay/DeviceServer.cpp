// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One request at a time; each verb is a method in a table.
#include "wrapper/replay/DeviceServer.h"

#include "wrapper/replay/Message.h"
#include "wrapper/replay/Rates.h"
#include "wrapper/replay/Runner.h"

#include "runtime/support/Confine.h"
#include "runtime/support/Protocol.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace r3::replay {

namespace {

constexpr int DescriptorWaitMs = 30000;
constexpr uint64_t MostDescriptors = 65536;

class DeviceServer {
public:
  DeviceServer(int ProtocolFd, int DescriptorFd, const DeviceOpener &Open)
      : Link(ProtocolFd, ProtocolFd), Descriptors(DescriptorFd), Open(Open) {}

  int serve();

private:
  Expected<Frame> dispatch(const Frame &Request);
  Expected<Frame> open(const json::Value &Request);
  Expected<Frame> plan(const json::Value &Request, const Frame &F);
  Expected<Frame> create();
  Expected<Frame> adopt(const json::Value &Request);
  Expected<Frame> fill(const json::Value &Request);
  Expected<Frame> code(const json::Value &Request, const Frame &F);
  Expected<Frame> run(const json::Value &Request, const Frame &F);
  Expected<Frame> batch(const json::Value &Request, const Frame &F);
  Expected<Frame> plain(const json::Value &Request, const Frame &F);
  Expected<Frame> rates();
  Expected<Frame> read(const json::Value &Request);
  Expected<Frame> pool();

  Expected<std::vector<OwnedFd>> receiveFds(const json::Value &Request);
  void note(uint64_t Id, const char *Verb);

  Channel Link;
  OwnedFd Descriptors;
  const DeviceOpener &Open;
  std::unique_ptr<Device> D;
  ReplayPlan Plan;
  std::unique_ptr<ReplayMemory> Memory;
  std::unique_ptr<Runner> Run;
};

Frame reply(std::string Json, std::vector<uint8_t> Blob = {}) {
  Frame F;
  F.Json = std::move(Json);
  F.Blob = std::move(Blob);
  return F;
}

Error notYet(const char *What) {
  return fail(ErrorCode::Usage, "no %s before this request", What);
}

int DeviceServer::serve() {
  for (;;) {
    auto Request = Link.receive(/*TimeoutMs=*/-1);
    if (!Request)
      return Request.error().code() == ErrorCode::NotFound ? 0 : 1;
    auto Reply = dispatch(*Request);
    Frame F = Reply ? std::move(*Reply) : reply(errorReply(Reply.error()));
    F.Id = Request->Id;
    if (Error E = Link.send(F))
      return 1;
  }
}

Expected<Frame> DeviceServer::dispatch(const Frame &F) {
  auto Request = json::parse(F.Json, "request");
  if (!Request)
    return Request.error();
  const std::string Verb = json::text(*Request, "verb", "");
  if (Verb == "open")
    return open(*Request);
  if (!D)
    return notYet("device");
  if (Verb == "rates")
    return rates();
  if (Verb == "plan")
    return plan(*Request, F);
  if (!Memory)
    return notYet("plan");
  if (Verb == "create")
    return create();
  if (Verb == "adopt")
    return adopt(*Request);
  if (Verb == "fill")
    return fill(*Request);
  if (Verb == "code")
    return code(*Request, F);
  if (Verb == "run")
    return run(*Request, F);
  if (Verb == "batch")
    return batch(*Request, F);
  if (Verb == "plain")
    return plain(*Request, F);
  if (Verb == "read")
    return read(*Request);
  if (Verb == "pool")
    return pool();
  return fail(ErrorCode::Usage, "unknown verb %s", Verb.c_str());
}

Expected<Frame> DeviceServer::open(const json::Value &Request) {
  auto Opened = Open(json::text(Request, "backend", ""),
                     static_cast<int>(json::number(Request, "device", 0)));
  if (!Opened)
    return Opened.error();
  // The CPU device has no threads yet; those of a driver run no kernels.
  if (json::boolean(Request, "confine", false))
    if (auto Done = confine(
            {readTexts(Request, "readable"), readTexts(Request, "writable")});
        !Done)
      return Done.error();
  D = std::move(*Opened);
  return reply(Message("reply")
                   .raw("identity", identityJson(D->identity()))
                   .number("granularity", D->granularity())
                   .number("alignment", D->reserveAlignment())
                   .raw("limits", limitsJson(D->limits()))
                   .json());
}

Expected<Frame> DeviceServer::plan(const json::Value &Request, const Frame &F) {
  auto Parsed = ReplayPlan::parse(F.Blob);
  if (!Parsed)
    return Parsed.error();
  Plan = std::move(*Parsed);
  Memory = std::make_unique<ReplayMemory>(*D);
  const bool Plain = json::boolean(Request, "plain", false);
  if (Error E = Plain ? Error() : Memory->reserve(Plan)) {
    std::fprintf(stderr, "%s\n", E.message().c_str());
    std::fflush(stderr);
    _exit(ConflictStatus);
  }
  Run = std::make_unique<Runner>(*D, Plan, *Memory);
  if (Error E = Run->open())
    return E;
  return reply(Message("reply").json());
}

Expected<Frame> DeviceServer::create() {
  auto Fds = Memory->create(Plan);
  if (!Fds)
    return Fds.error();
  std::vector<int> Raw;
  for (const OwnedFd &Fd : *Fds)
    Raw.push_back(Fd.get());
  if (Error E = sendDescriptors(Descriptors.get(), Raw))
    return E;
  return reply(Message("reply")
                   .flag("hostPool", Memory->poolInHost())
                   .number("descriptors", Raw.size())
                   .json());
}

Expected<std::vector<OwnedFd>>
DeviceServer::receiveFds(const json::Value &Request) {
  auto Count = json::number(Request, "descriptors");
  if (!Count)
    return Count.error();
  if (*Count > MostDescriptors)
    return fail(ErrorCode::Damaged, "%llu descriptors announced",
                static_cast<unsigned long long>(*Count));
  return receiveDescriptors(Descriptors.get(), *Count, DescriptorWaitMs);
}

Expected<Frame> DeviceServer::adopt(const json::Value &Request) {
  auto Fds = receiveFds(Request);
  if (!Fds)
    return Fds.error();
  if (Error E = Memory->adopt(Plan, std::move(*Fds),
                              json::boolean(Request, "hostPool", false)))
    return E;
  return reply(Message("reply").json());
}

Expected<Frame> DeviceServer::fill(const json::Value &Request) {
  auto Packs = receiveFds(Request);
  if (!Packs)
    return Packs.error();
  if (Error E = Memory->fill(Plan, *Packs))
    return E;
  return reply(Message("reply").json());
}

Expected<Frame> DeviceServer::code(const json::Value &Request, const Frame &F) {
  std::vector<LaunchConfig> Launches;
  if (const json::Value *List = json::array(Request, "launches"))
    for (const json::Value &Item : List->GetArray())
      Launches.push_back(readLaunch(Item));
  auto Info =
      Run->setCode(json::text(Request, "slot", ""), F.Blob,
                   json::text(Request, "kernel", ""), std::move(Launches));
  if (Info)
    return reply(Message("reply")
                     .outcome(Outcome::Ok, "")
                     .number("registers", Info->Registers)
                     .number("shared", Info->StaticShared)
                     .number("local", Info->LocalBytes)
                     .number("threads", Info->MaxThreads)
                     .json());
  const DeviceFault Fault = D->fault();
  const Outcome Ending = Info.error().code() == ErrorCode::NoSpace
                             ? Outcome::OutOfMemory
                             : Outcome::LaunchFailed;
  return reply(Message("reply")
                   .outcome(Ending, Info.error().message())
                   .flag("sticky", Fault.Sticky)
                   .json());
}

void DeviceServer::note(uint64_t Id, const char *Verb) {
  Frame F;
  F.Id = Id;
  F.Json = Message(Verb).json();
  if (Link.send(F))
    _exit(1); // the supervisor is gone, and so is the reason to be here
}

Expected<Frame> DeviceServer::run(const json::Value &Request, const Frame &F) {
  Runner::Request R;
  R.Launch = json::number(Request, "launch", 0);
  R.Slot = json::text(Request, "slot", "");
  R.Flush = json::boolean(Request, "flush", false);
  R.Dry = json::boolean(Request, "dry", false);
  R.Trace = json::boolean(Request, "trace", false);
  R.Count = json::boolean(Request, "count", false);
  R.RoundSeed = json::number(Request, "seed", 0);
  R.OrderSeed = json::number(Request, "order", 0);
  R.PoisonByte = static_cast<uint8_t>(json::number(Request, "poison", 0));
  if (json::boolean(Request, "scratch", false))
    R.Scratch = R.PoisonByte;
  R.Written = readNumbers(Request, "written");
  if (!F.Blob.empty()) {
    auto Where = Poison::parse(F.Blob);
    if (!Where)
      return Where.error();
    R.Where = std::move(*Where);
  }
  RunResult Result = Run->run(
      R, [&] { note(F.Id, "launching"); }, [&] { note(F.Id, "launched"); });
  ByteWriter Blob;
  for (const Digest &Each : Result.Digests)
    Blob.digest(Each);
  if (Result.Traced)
    Result.Traced->write(Blob);
  Message Answer("reply");
  Answer.outcome(Result.Ending, Result.Message)
      .flag("sticky", Result.Sticky)
      .real("ns", Result.Ns)
      .number("locked", Result.LockedBytes)
      .number("digests", Result.Digests.size())
      .times(Result.Ms);
  if (Result.Counted)
    Answer.raw("counted", operationsJson(*Result.Counted));
  return reply(Answer.json(), Blob.take());
}

Expected<Frame> DeviceServer::batch(const json::Value &Request,
                                    const Frame &F) {
  auto What = BatchRequest::parse(Request, F.Blob);
  if (!What)
    return What.error();
  BatchResult Result = Run->runBatch(
      *What, [&] { note(F.Id, "launching"); }, [&] { note(F.Id, "launched"); });
  ByteWriter Blob;
  for (const Digest &Each : Result.Run.Digests)
    Blob.digest(Each);
  for (const Digest &Each : Result.Digests)
    Blob.digest(Each);
  for (const Sketch &Each : Result.Sketches)
    writeSketch(Blob, Each);
  return reply(Message("reply")
                   .outcome(Result.Run.Ending, Result.Run.Message)
                   .flag("sticky", Result.Run.Sticky)
                   .number("digests", Result.Run.Digests.size())
                   .number("timed", Result.Digests.size())
                   .raw("times", Result.Times.json())
                   .json(),
               Blob.take());
}

Expected<Frame> DeviceServer::plain(const json::Value &Request,
                                    const Frame &F) {
  auto Packs = receiveFds(Request);
  if (!Packs)
    return Packs.error();
  auto What = PlainLaunch::parse(F.Blob);
  if (!What)
    return What.error();
  const RunResult Result = Run->runPlain(
      json::number(Request, "launch", 0), json::text(Request, "slot", ""),
      *What, std::move(*Packs), [&] { note(F.Id, "launching"); },
      [&] { note(F.Id, "launched"); });
  // Not whether the fault is sticky: who asked wants the process to end in
  // peace and say what was found.
  return reply(Message("reply")
                   .outcome(Result.Ending, Result.Message)
                   .real("ns", Result.Ns)
                   .json());
}

Expected<Frame> DeviceServer::rates() {
  auto Rates = measureRates(*D);
  if (!Rates)
    return Rates.error();
  return reply(ratesJson(*Rates));
}

Expected<Frame> DeviceServer::read(const json::Value &Request) {
  const json::Value *Chunks = json::array(Request, "chunks");
  if (!Chunks)
    return fail(ErrorCode::Usage, "no chunks to read");
  std::vector<uint8_t> Blob;
  for (const json::Value &Chunk : Chunks->GetArray()) {
    if (!Chunk.IsUint64())
      return fail(ErrorCode::Usage, "a chunk is not a number");
    auto Bytes =
        Run->readChunk(json::number(Request, "launch", 0),
                       json::number(Request, "range", 0), Chunk.GetUint64());
    if (!Bytes)
      return Bytes.error();
    Blob.insert(Blob.end(), Bytes->begin(), Bytes->end());
  }
  return reply(Message("reply").json(), std::move(Blob));
}

Expected<Frame> DeviceServer::pool() {
  auto Digests = Run->digestPool();
  if (!Digests)
    return Digests.error();
  ByteWriter Blob;
  for (const Digest &Each : *Digests)
    Blob.digest(Each);
  return reply(Message("reply").number("digests", Digests->size()).json(),
               Blob.take());
}

} // namespace

int serveDevice(int ProtocolFd, int DescriptorFd, const DeviceOpener &Open) {
  return DeviceServer(ProtocolFd, DescriptorFd, Open).serve();
}

int deviceMain(int Count, char **Arguments, const DeviceOpener &Open) {
  // "leave": ends like any program, for who waits for that.
  const bool Leave = Count == 4 && !std::strcmp(Arguments[3], "leave");
  if (Count != 3 && !Leave) {
    std::fprintf(stderr, "r3-device is started by r3-supervisor\n");
    return 2;
  }
  // The supervisor blocks signals that it waits for; that is not ours.
  sigset_t None;
  sigemptyset(&None);
  sigprocmask(SIG_SETMASK, &None, nullptr);
  const int Status =
      serveDevice(std::atoi(Arguments[1]), std::atoi(Arguments[2]), Open);
  if (Leave)
    return Status;
  // No clean-up of a device that may be broken.
  _exit(Status);
}

Expected<std::unique_ptr<Device>>
openInstalledDevice(const std::string &Backend, int Ordinal) {
  if (Backend == "cuda") {
    // One stream is used. The driver makes the contexts of a machine one after
    // the other, 35 ms each in place of 140 ms with eight connections (H200).
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", /*overwrite=*/1);
    return openCudaDevice(Ordinal);
  }
  if (Backend == "cpu")
    return openCpuDevice();
  return fail(ErrorCode::Usage, "there is no device '%s': cuda or cpu",
              Backend.c_str());
}

} // namespace r3::replay
