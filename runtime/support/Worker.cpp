// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts a supervisor and asks it. Replies are untrusted text: every member is
// checked, and a reply that makes no sense is Damaged, never a crash.
#include "runtime/support/Worker.h"

#include "runtime/support/Json.h"

#include <algorithm>
#include <fcntl.h>
#include <span>
#include <unistd.h>
#include <utility>

namespace r3 {

static constexpr int GreetingTimeoutMs = 120000; // a batch system may queue
static constexpr std::chrono::milliseconds FarewellMs(2000);

namespace {
struct Pipe {
  int Read = -1, Write = -1;
  ~Pipe() {
    if (Read >= 0)
      ::close(Read);
    if (Write >= 0)
      ::close(Write);
  }
};
} // namespace

static Error openPipe(Pipe &P) {
  int Ends[2];
  if (::pipe2(Ends, O_CLOEXEC))
    return Error(ErrorCode::Failed, "cannot make a pipe for the worker");
  P.Read = Ends[0];
  P.Write = Ends[1];
  return Error::success();
}

static DeviceIdentity readIdentity(const json::Value &Reply) {
  DeviceIdentity D;
  const json::Value *Found = json::object(Reply, "identity");
  if (!Found)
    return D;
  D.Backend = json::text(*Found, "backend", "");
  D.Name = json::text(*Found, "name", "");
  D.Arch = json::text(*Found, "arch", "");
  D.Key = json::text(*Found, "key", "");
  D.Driver = json::text(*Found, "driver", "");
  D.Tools = json::text(*Found, "tools", "");
  D.Multiprocessors = uint32_t(json::number(*Found, "multiprocessors", 0));
  D.L2Bytes = json::number(*Found, "l2Bytes", 0);
  D.MemoryBytes = json::number(*Found, "memoryBytes", 0);
  return D;
}

/// The error that a reply carries, with the code that the supervisor gave it.
static Error errorOf(const json::Value &Reply) {
  std::string Text = json::text(Reply, "error", "");
  if (Text.empty())
    return Error::success();
  uint64_t Code = json::number(Reply, "code", uint64_t(ErrorCode::Failed));
  if (!Code || Code > uint64_t(ErrorCode::Interrupted))
    Code = uint64_t(ErrorCode::Failed);
  return Error(ErrorCode(Code), Text);
}

static Expected<json::Document> parseReply(const std::string &Json) {
  Expected<json::Document> Reply = json::parse(Json, "the worker's reply");
  if (!Reply)
    return Reply;
  if (!Reply->IsObject())
    return Error(ErrorCode::Damaged, "the worker's reply is not an object");
  if (Error E = errorOf(*Reply))
    return E;
  return Reply;
}

static std::vector<double> readReals(const json::Value &Reply,
                                     const char *Name) {
  std::vector<double> Result;
  if (const json::Value *List = json::array(Reply, Name))
    for (const json::Value &Item : List->GetArray())
      Result.push_back(Item.IsNumber() ? Item.GetDouble() : 0);
  return Result;
}

static std::map<std::string, double> readTimes(const json::Value &Reply) {
  std::map<std::string, double> Result;
  if (const json::Value *Ms = json::object(Reply, "ms"))
    for (const auto &Member : Ms->GetObject())
      if (Member.value.IsNumber())
        Result[Member.name.GetString()] = Member.value.GetDouble();
  return Result;
}

static BufferSpread readBuffer(const json::Value &Item) {
  BufferSpread B;
  B.Name = json::text(Item, "name", "");
  B.Address = json::number(Item, "address", 0);
  B.Size = json::number(Item, "size", 0);
  uint64_t Type = json::number(Item, "type", 0);
  if (Type <= uint64_t(ValueType::Pointer))
    B.Type = ValueType(Type);
  B.ChangedBytes = json::number(Item, "changedBytes", 0);
  B.MaxDifference = json::real(Item, "maxDifference", 0);
  B.Rms = json::real(Item, "rms", 0);
  return B;
}

static Expected<Outcome> readOutcome(const json::Value &Reply) {
  Expected<std::string> Name = json::text(Reply, "outcome");
  if (!Name)
    return Name.error().in("the worker's reply");
  return parseOutcome(*Name);
}

static std::string finish(json::Writer &W, rapidjson::StringBuffer &Buffer) {
  W.EndObject();
  return {Buffer.GetString(), Buffer.GetSize()};
}

Worker::Worker(Process Child, Channel Link)
    : Child(std::move(Child)), Link(std::move(Link)) {}

static std::string helloText(const WorkerOptions &Options) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("hello");
  W.Key("backend");
  W.String(Options.Backend);
  W.Key("device");
  W.Int(Options.Device);
  W.Key("store");
  W.String(Options.StorePath);
  W.Key("compilers");
  W.Uint(Options.Compilers);
  return finish(W, Buffer);
}

Expected<std::unique_ptr<Worker>> Worker::start(const WorkerOptions &Options) {
  Pipe In, Out; // the supervisor's stdin and stdout
  if (Error E = openPipe(In))
    return E;
  if (Error E = openPipe(Out))
    return E;
  SpawnOptions Spawn;
  Spawn.Arguments = Options.Launcher;
  Spawn.Arguments.push_back(installationPath("libexec/r3/r3-supervisor"));
  Spawn.Stdin = In.Read;
  Spawn.Stdout = Out.Write;
  Spawn.NewGroup = true; // Ctrl-C is the client's to handle
  Expected<Process> Child = Process::spawn(Spawn);
  if (!Child)
    return Child.error().in("starting the worker");
  Channel Link(std::exchange(Out.Read, -1), std::exchange(In.Write, -1));
  std::unique_ptr<Worker> W(new Worker(std::move(*Child), std::move(Link)));
  ::close(std::exchange(In.Read, -1));
  ::close(std::exchange(Out.Write, -1));
  W->Options = Options;
  if (Error E = W->Link.greet(buildId()))
    return E.in("starting the worker");
  if (Error E = W->Link.expectGreeting(buildId(), GreetingTimeoutMs))
    return E.in("starting the worker");
  Expected<Frame> Reply = W->ask(helloText(Options));
  if (!Reply)
    return Reply.error().in("starting the worker");
  Expected<json::Document> Hello = parseReply(Reply->Json);
  if (!Hello)
    return Hello.error();
  W->Identity = readIdentity(*Hello);
  W->Compilers = std::max(unsigned(json::number(*Hello, "compilers", 1)), 1u);
  if (const json::Value *List = json::object(*Hello, "pipelines"))
    for (const auto &Member : List->GetObject())
      if (Member.value.IsString())
        W->Pipelines[Member.name.GetString()] = Member.value.GetString();
  return W;
}

Worker::~Worker() {
  Frame Bye;
  Bye.Id = NextId++;
  Bye.Json = R"({"verb":"bye"})";
  (void)Link.send(Bye);
  Link.close();
  (void)Child.wait(FarewellMs);
}

Expected<uint64_t> Worker::send(const std::string &Json) {
  Frame Request;
  Request.Id = NextId++;
  Request.Json = Json;
  if (Error E = Link.send(Request)) {
    Lost = true;
    return E.in("the worker is gone");
  }
  return Request.Id;
}

Expected<Frame> Worker::receive(uint64_t Id) {
  const bool WasLost = std::exchange(Lost, true); // until there is an answer
  for (;;) {
    Expected<Frame> Reply = Link.receive(Options.ReplyTimeoutMs);
    if (!Reply)
      return Reply.error().in("the worker is gone");
    if (Reply->Id == Id) {
      Lost = WasLost;
      return Reply;
    }
    // A late answer to a request that was given up: not ours.
    if (Reply->Id > Id)
      return Error(ErrorCode::Damaged,
                   "the worker answers a request that was not made");
  }
}

Expected<Frame> Worker::ask(const std::string &Json) {
  if (!Submitted.empty())
    return Error(ErrorCode::Usage, "the worker has not answered what was "
                                   "submitted");
  Expected<uint64_t> Id = send(Json);
  if (!Id)
    return Id.error();
  return receive(*Id);
}

Expected<json::Document> Worker::askJson(const std::string &Json) {
  Expected<Frame> Answer = ask(Json);
  if (!Answer)
    return Answer.error();
  return parseReply(Answer->Json);
}

Error Worker::load(const std::vector<std::string> &ManifestPaths) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("load");
  W.Key("recordings");
  W.StartArray();
  for (const std::string &Path : ManifestPaths)
    W.String(Path);
  W.EndArray();
  W.Key("unordered");
  W.StartObject();
  for (const auto &[Name, Size] : Options.Unordered) {
    W.Key(Name.c_str());
    W.Uint64(Size);
  }
  W.EndObject();
  Expected<json::Document> Reply = askJson(finish(W, Buffer));
  return Reply ? Error::success() : Reply.error();
}

static FloorReport readFloor(const json::Value &From) {
  FloorReport F;
  F.ColdUs = json::real(From, "coldUs", 0);
  F.WarmUs = json::real(From, "warmUs", 0);
  F.ColdBy = json::text(From, "coldBy", "");
  F.WarmBy = json::text(From, "warmBy", "");
  F.ReadBytes = json::number(From, "readBytes", 0);
  F.WrittenBytes = json::number(From, "writtenBytes", 0);
  if (const json::Value *Counted = json::object(From, "operations"))
    F.Counted = {json::number(*Counted, "float", 0),
                 json::number(*Counted, "double", 0),
                 json::number(*Counted, "half", 0)};
  F.Uncounted = json::text(From, "uncounted", "");
  return F;
}

Expected<ReplayReport> Worker::prepare(size_t Recording, unsigned Repetitions) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("prepare");
  W.Key("recording");
  W.Uint64(Recording);
  W.Key("repetitions");
  W.Uint(Repetitions);
  Expected<json::Document> Reply = askJson(finish(W, Buffer));
  if (!Reply)
    return Reply.error();
  Expected<Outcome> Result = readOutcome(*Reply);
  if (!Result)
    return Result.error();
  ReplayReport Report;
  Report.Result = *Result;
  Report.Message = json::text(*Reply, "message", "");
  Report.BitExact = json::boolean(*Reply, "bitExact", false);
  Report.ReadBytes = json::number(*Reply, "readBytes", 0);
  Report.WrittenBytes = json::number(*Reply, "writtenBytes", 0);
  Report.PoisonedBytes = json::number(*Reply, "poisonedBytes", 0);
  Report.Untraced = json::text(*Reply, "untraced", "");
  if (const json::Value *List = json::array(*Reply, "buffers"))
    for (const json::Value &Item : List->GetArray())
      Report.Buffers.push_back(readBuffer(Item));
  Report.OriginalNs = readReals(*Reply, "originalNs");
  Report.ProgramNs = json::real(*Reply, "programNs", 0);
  if (const json::Value *Floor = json::object(*Reply, "floor"))
    Report.Floor = readFloor(*Floor);
  Report.Ms = readTimes(*Reply);
  return Report;
}

static std::string evaluateText(const EvaluationRequest &What) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("evaluate");
  W.Key("variant");
  std::string Text = What.Change.canonicalJson();
  W.RawValue(Text.data(), Text.size(), rapidjson::kObjectType);
  W.Key("recordings");
  W.StartArray();
  for (size_t Index : What.Recordings)
    W.Uint64(Index);
  W.EndArray();
  W.Key("pairs");
  W.Uint(What.Pairs);
  W.Key("seed");
  W.Uint64(What.Seed);
  W.Key("known");
  W.StartArray();
  for (const std::string &Code : What.Known)
    W.String(Code);
  W.EndArray();
  W.Key("rounding");
  W.Bool(What.Which == Accept::Rounding);
  W.Key("closeTo");
  W.Double(What.CloseTo);
  W.Key("allowPrecision");
  W.Bool(What.AllowPrecision);
  W.Key("checks");
  W.StartArray();
  for (Check Each : What.Checks)
    W.String(std::string(checkName(Each)));
  W.EndArray();
  if (What.PassLimit) {
    W.Key("passLimit");
    W.Uint64(*What.PassLimit);
  }
  W.Key("once");
  W.Bool(What.Once);
  W.Key("floors");
  W.Bool(What.Floors);
  W.Key("beat");
  W.Double(What.Beat);
  return finish(W, Buffer);
}

static Expected<std::vector<CheckResult>> readChecks(const json::Value &Reply) {
  std::vector<CheckResult> Result;
  const json::Value *List = json::array(Reply, "checks");
  if (!List)
    return Result;
  for (const json::Value &Item : List->GetArray()) {
    auto What = parseCheck(json::text(Item, "check", ""));
    auto Ending = readOutcome(Item);
    if (!What || !Ending)
      return What ? Ending.error() : What.error();
    Result.push_back({*What, json::boolean(Item, "made", true), *Ending,
                      json::text(Item, "message", ""),
                      json::real(Item, "milliseconds", 0)});
  }
  return Result;
}

static Expected<EvaluationReport> readReport(const json::Value &Reply) {
  Expected<Outcome> Result = readOutcome(Reply);
  if (!Result)
    return Result.error();
  EvaluationReport Report;
  Report.Result = *Result;
  Report.Message = json::text(Reply, "message", "");
  Report.Code = json::text(Reply, "code", "");
  Report.Ir = json::text(Reply, "ir", "");
  Report.Ptx = json::text(Reply, "ptx", "");
  Report.Pairs = unsigned(json::number(Reply, "pairs", 0));
  if (const json::Value *List = json::array(Reply, "excluded"))
    for (const json::Value &Item : List->GetArray())
      if (Item.IsUint64())
        Report.Excluded.push_back(Item.GetUint64());
  Report.Guards = json::text(Reply, "guards", "");
  Report.PassRuns = json::number(Reply, "passRuns", 0);
  Report.NextPass = json::text(Reply, "nextPass", "");
  Report.NextPlace = json::text(Reply, "nextPlace", "");
  Report.Tolerance = json::text(Reply, "tolerance", "");
  Report.Registers = uint32_t(json::number(Reply, "registers", 0));
  Report.Shared = uint32_t(json::number(Reply, "shared", 0));
  Report.Spills = uint32_t(json::number(Reply, "spills", 0));
  Report.OriginalNs = readReals(Reply, "originalNs");
  Report.VariantNs = readReals(Reply, "variantNs");
  if (const json::Value *List = json::array(Reply, "floors"))
    for (const json::Value &Item : List->GetArray())
      Report.Floors.push_back(readFloor(Item));
  auto Checks = readChecks(Reply);
  if (!Checks)
    return Checks.error();
  Report.Checks = std::move(*Checks);
  Report.Ms = readTimes(Reply);
  return Report;
}

Expected<EvaluationReport> Worker::evaluate(const EvaluationRequest &What) {
  Expected<json::Document> Reply = askJson(evaluateText(What));
  return Reply ? readReport(*Reply) : Reply.error();
}

static std::string knowText(std::span<const KnownBinary> All) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("know");
  W.Key("binaries");
  W.StartArray();
  for (const KnownBinary &B : All) {
    W.StartObject();
    for (const auto &[Name, Digest] :
         {std::pair("code", &B.Code), {"ir", &B.Ir}, {"ptx", &B.Ptx}}) {
      W.Key(Name);
      W.String(*Digest);
    }
    W.EndObject();
  }
  W.EndArray();
  return finish(W, Buffer);
}

/// In parts that a frame holds.
Error Worker::know(const std::vector<KnownBinary> &All) {
  constexpr size_t AtOnce = 50000;
  for (size_t Begin = 0; Begin < All.size(); Begin += AtOnce) {
    const std::span<const KnownBinary> Rest = std::span(All).subspan(Begin);
    auto Reply = askJson(knowText(Rest.first(std::min(AtOnce, Rest.size()))));
    if (!Reply)
      return Reply.error();
  }
  return Error::success();
}

Error Worker::submit(const EvaluationRequest &What) {
  Expected<uint64_t> Id = send(evaluateText(What));
  if (!Id)
    return Id.error();
  Submitted.push_back(*Id);
  return Error::success();
}

Expected<EvaluationReport> Worker::next() {
  if (Submitted.empty())
    return Error(ErrorCode::Usage, "nothing was submitted to the worker");
  const uint64_t Id = Submitted.front();
  Submitted.pop_front();
  Expected<Frame> Answer = receive(Id);
  if (!Answer)
    return Answer.error();
  Expected<json::Document> Reply = parseReply(Answer->Json);
  return Reply ? readReport(*Reply) : Reply.error();
}

/// Answers that come nevertheless are passed over by receive().
void Worker::drop() {
  if (std::exchange(Submitted, {}).empty())
    return;
  (void)send(R"({"verb":"cancel"})");
}

static std::string measureText(const MeasurementRequest &What) {
  rapidjson::StringBuffer Buffer;
  json::Writer W(Buffer);
  W.StartObject();
  W.Key("verb");
  W.String("measure");
  W.Key("variant");
  std::string Text = What.Change.canonicalJson();
  W.RawValue(Text.data(), Text.size(), rapidjson::kObjectType);
  W.Key("recordings");
  W.StartArray();
  W.Uint64(What.Recording);
  W.EndArray();
  W.Key("mode");
  W.String(What.Mode == CacheMode::Cold ? "cold" : "warm");
  W.Key("batches");
  W.Uint(What.Batches);
  W.Key("seed");
  W.Uint64(What.Seed);
  W.Key("rounding");
  W.Bool(What.Which == Accept::Rounding);
  W.Key("closeTo");
  W.Double(What.CloseTo);
  W.Key("allowPrecision");
  W.Bool(What.AllowPrecision);
  return finish(W, Buffer);
}

static ClockSample readClocks(const json::Value &Batch, const char *Name) {
  ClockSample C;
  if (const json::Value *Found = json::object(Batch, Name)) {
    C.SmMhz = json::real(*Found, "smMhz", 0);
    C.MemoryMhz = json::real(*Found, "memoryMhz", 0);
    C.Reasons = json::number(*Found, "reasons", 0);
  }
  return C;
}

/// Two times, which must be: who divides by them does not ask again.
static Error readPair(const json::Value &Batch, const char *Name,
                      std::array<double, 2> &Pair) {
  const std::vector<double> Times = readReals(Batch, Name);
  if (Times.size() != 2 || !(Times[0] > 0) || !(Times[1] > 0))
    return fail(ErrorCode::Damaged,
                "the worker's reply: %s of a batch are not two times", Name);
  Pair = {Times[0], Times[1]};
  return {};
}

static Expected<Batch> readBatch(const json::Value &Item) {
  if (!Item.IsObject())
    return Error(ErrorCode::Damaged, "the worker's reply: not a batch");
  Batch B;
  B.Before = readClocks(Item, "before");
  B.After = readClocks(Item, "after");
  if (Error E = readPair(Item, "originalUs", B.OriginalUs))
    return E;
  if (Error E = readPair(Item, "variantUs", B.VariantUs))
    return E;
  return B;
}

Expected<MeasurementReport> Worker::measure(const MeasurementRequest &What) {
  Expected<json::Document> Reply = askJson(measureText(What));
  if (!Reply)
    return Reply.error();
  Expected<Outcome> Result = readOutcome(*Reply);
  if (!Result)
    return Result.error();
  MeasurementReport Report;
  Report.Result = *Result;
  Report.Message = json::text(*Reply, "message", "");
  Report.Code = json::text(*Reply, "code", "");
  if (const json::Value *List = json::array(*Reply, "batches"))
    for (const json::Value &Item : List->GetArray()) {
      Expected<Batch> B = readBatch(Item);
      if (!B)
        return B.error();
      Report.Batches.push_back(*B);
    }
  Report.EmptyUs = readReals(*Reply, "emptyUs");
  Report.SubtractUs = json::real(*Reply, "subtractUs", 0);
  Report.ClocksUnread = json::text(*Reply, "clocksUnread", "");
  Report.HostWarning = json::text(*Reply, "hostWarning", "");
  Report.Ms = readTimes(*Reply);
  return Report;
}

Expected<NvccReport> Worker::nvcc() {
  Expected<json::Document> Reply = askJson(R"({"verb":"nvcc"})");
  if (!Reply)
    return Reply.error();
  Expected<Outcome> Result = readOutcome(*Reply);
  if (!Result)
    return Result.error();
  return NvccReport{*Result, json::text(*Reply, "message", ""),
                    json::text(*Reply, "ptx", "")};
}

Expected<RatesReport> Worker::rates() {
  Expected<json::Document> Reply = askJson(R"({"verb":"rates"})");
  if (!Reply)
    return Reply.error();
  RatesReport Report;
  Report.EmptyLaunchUs = json::real(*Reply, "emptyLaunchUs", 0);
  Report.MemoryBytesPerUs = json::real(*Reply, "memoryBytesPerUs", 0);
  Report.L2BytesPerUs = json::real(*Reply, "l2BytesPerUs", 0);
  Report.FloatFlopsPerUs = json::real(*Reply, "floatFlopsPerUs", 0);
  Report.DoubleFlopsPerUs = json::real(*Reply, "doubleFlopsPerUs", 0);
  Report.HalfFlopsPerUs = json::real(*Reply, "halfFlopsPerUs", 0);
  Report.L2Bytes = json::number(*Reply, "l2Bytes", 0);
  return Report;
}

} // namespace r3
