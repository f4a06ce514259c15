// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The worker keeps its own deadlines; those here are a second line, for a
// worker that is itself stuck.
#include "wrapper/replay/CompileLink.h"

namespace r3::replay {

namespace {

constexpr int StepMs = 60000;

const std::vector<std::string> CompileVariables = {
    "PATH",         "CUDA_PATH",     "LD_LIBRARY_PATH", "TMPDIR",
    "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"};

} // namespace

Error CompileLink::start() {
  if (Link)
    return {};
  Loaded = false;
  auto Started = Child::start({Program, CompileVariables}, All);
  if (!Started)
    return Started.error().in("starting the compile worker");
  Runs.emplace(std::move(*Started));
  const int Fd = Runs->releaseProtocol();
  Link.emplace(Fd, Fd);
  return {};
}

/// Ends the worker; the next request starts another. Says how it ended.
std::string CompileLink::lose() {
  std::string Text;
  if (Runs) {
    const ExitStatus Status = Runs->end(std::chrono::milliseconds(500));
    Text = "the compile worker: " + describe(Status);
    if (std::string Words = Runs->lastWords(); !Words.empty())
      Text += ": " + Words;
  }
  Link.reset();
  Runs.reset();
  Loaded = false;
  return Text;
}

Expected<CompileLink::Answer>
CompileLink::ask(std::string Json, std::vector<uint8_t> Blob, int TimeoutMs) {
  if (Error E = start())
    return E;
  Frame F;
  F.Id = NextId++;
  F.Json = std::move(Json);
  F.Blob = std::move(Blob);
  if (Error E = Link->send(F))
    return Error(E.code(), lose());
  auto Reply = Link->receive(TimeoutMs);
  if (!Reply)
    return Reply.error().code() == ErrorCode::Timeout
               ? (void(lose()), Reply.error())
               : Error(ErrorCode::Failed, lose());
  auto Header = json::parse(Reply->Json, "compile worker");
  if (!Header || Reply->Id != F.Id)
    return Error(ErrorCode::Damaged, lose());
  if (Error E = replyError(*Header))
    return E;
  return Answer{std::move(*Header), std::move(Reply->Blob)};
}

Expected<std::map<std::string, std::string>>
CompileLink::pipelines(const std::string &Backend, const std::string &Arch) {
  auto Reply = ask(
      Message("pipelines").text("backend", Backend).text("arch", Arch).json(),
      {}, StepMs);
  if (!Reply)
    return Reply.error();
  std::map<std::string, std::string> Result;
  if (const json::Value *List = json::object(Reply->Header, "pipelines"))
    for (const auto &Member : List->GetObject())
      if (Member.value.IsString())
        Result[Member.name.GetString()] = Member.value.GetString();
  return Result;
}

void CompileLink::setJob(CompileJob Next) {
  Job = std::move(Next);
  Loaded = false;
}

void CompileLink::clearJob() {
  Job.reset();
  Loaded = false;
}

Error CompileLink::ensureLoaded() {
  if (Error E = start())
    return E;
  if (Loaded)
    return {};
  auto Reply = ask(Message("load")
                       .text("backend", Job->Backend)
                       .text("kernel", Job->Kernel)
                       .text("arch", Job->Arch)
                       .text("level", Job->Level)
                       .texts("command", Job->Command)
                       .text("root", Job->Root)
                       .text("source", Job->Source)
                       .texts("parameters", Job->Parameters)
                       .number("threads", Job->Threads)
                       .json(),
                   Job->Bitcode, StepMs);
  if (!Reply)
    return Reply.error();
  Loaded = true;
  WaysTold = 0;
  return {};
}

/// Ok: the worker has the job.
Build CompileLink::begin() {
  Build B;
  if (!Job) {
    B.Ending = Outcome::Refused;
    B.Message = "the store has no device code of this kernel";
  } else if (Error E = ensureLoaded()) {
    B.Ending = Outcome::BuildFailed;
    B.Message = E.message();
  }
  return B;
}

static Build lost(const Error &E) {
  Build B;
  B.Ending = E.code() == ErrorCode::Timeout ? Outcome::BuildTimeout
                                            : Outcome::BuildCrashed;
  B.Message = E.message();
  return B;
}

Build CompileLink::nvcc(uint64_t DeadlineMs) {
  Build B = begin();
  if (B.Ending != Outcome::Ok)
    return B;
  // Clang, nvcc and clang's code generation have it each.
  auto Reply = ask(Message("nvcc").number("deadlineMs", DeadlineMs).json(), {},
                   static_cast<int>(3 * DeadlineMs + GraceMs));
  if (!Reply)
    return lost(Reply.error());
  auto Ending = parseOutcome(json::text(Reply->Header, "outcome", ""));
  B.Ending = Ending ? *Ending : Outcome::BuildFailed;
  B.Message = json::text(Reply->Header, "message", "");
  B.Binary = std::move(Reply->Blob);
  return B;
}

Build CompileLink::build(const std::string &Variant, uint64_t DeadlineMs,
                         const std::string &Instrument, const KnownCode *Skip) {
  Build B = begin();
  if (B.Ending != Outcome::Ok)
    return B;
  Message Request("build");
  Request.raw("variant", Variant)
      .text("instrument", Instrument)
      .flag("allowPrecision", PrecisionAllowed)
      .number("deadlineMs", DeadlineMs);
  if (PassLimit && Variant != "{}" && Instrument.empty())
    Request.number("passLimit", *PassLimit);
  if (Skip) {
    std::vector<std::string> Ways;
    for (const auto &[From, Code] : Skip->waysFrom(WaysTold)) {
      Ways.insert(Ways.end(), {From, Code});
      ++WaysTold;
    }
    Request.flag("maySkip", true).texts("ways", Ways);
  }
  auto Reply = ask(Request.json(), {}, static_cast<int>(DeadlineMs + GraceMs));
  if (!Reply)
    return lost(Reply.error());
  const json::Value &H = Reply->Header;
  auto Ending = parseOutcome(json::text(H, "outcome", ""));
  B.Ending = Ending ? *Ending : Outcome::BuildFailed;
  B.Message = json::text(H, "message", "");
  B.Code = json::text(H, "code", "");
  B.Registers = static_cast<uint32_t>(json::number(H, "registers", 0));
  B.Shared = static_cast<uint32_t>(json::number(H, "shared", 0));
  B.Spills = static_cast<uint32_t>(json::number(H, "spills", 0));
  B.Sites = readTexts(H, "sites");
  B.Promise = json::text(H, "promise", "");
  B.Unseen = readTexts(H, "unseen");
  B.LessPrecise = json::text(H, "lessPrecise", "");
  if (const json::Value *List = json::array(H, "numbers"))
    for (const json::Value &Item : List->GetArray())
      B.Numbers.push_back(Item.IsUint64() ? Item.GetUint64() : 0);
  B.PassRuns = json::number(H, "passRuns", 0);
  B.NextPass = json::text(H, "nextPass", "");
  B.NextPlace = json::text(H, "nextPlace", "");
  B.Ir = json::text(H, "ir", "");
  B.Ptx = json::text(H, "ptx", "");
  B.Skipped = json::boolean(H, "skipped", false);
  B.Ms = readTimes(H);
  B.Binary = std::move(Reply->Blob);
  return B;
}

} // namespace r3::replay
