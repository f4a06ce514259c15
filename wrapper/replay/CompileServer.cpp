// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA: pipeline and code generation in a fork, then ptxas as a process. CPU:
// the CPU device's own compiler in a fork.
#include "wrapper/replay/CompileServer.h"

#include "wrapper/replay/CudaCodegen.h"
#include "wrapper/replay/ElfCode.h"
#include "wrapper/replay/Fork.h"
#include "wrapper/replay/FrontEnd.h"
#include "wrapper/replay/Instrument.h"
#include "wrapper/replay/Message.h"
#include "wrapper/replay/Nvcc.h"
#include "wrapper/replay/Promises.h"
#include "wrapper/replay/Ptxas.h"
#include "wrapper/replay/Specialise.h"
#include "wrapper/trust/Ptx.h"

#include "runtime/device/cpu/Compile.h"
#include "runtime/support/LaunchMap.h"
#include "runtime/support/Protocol.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start)
      .count();
}

/// Patched units that are kept.
constexpr size_t MostPatched = 64;
/// Of nvcc's, which travels in headers.
constexpr size_t MostPtxBytes = 4u << 20;

struct BuildResult {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  std::vector<uint8_t> Binary;
  uint32_t Registers = 0, Shared = 0, Spills = 0;
  std::vector<std::string> Sites, Unseen;
  std::string LessPrecise;
  std::string Promise;
  std::vector<uint64_t> Numbers;
  ir::PassCounter Passes;
  std::string Ir, Ptx; // digests, where they were asked for
  std::string SameAs;  // the binary that one of them is known to give
  std::map<std::string, double> Ms;
};

/// clang's own choice of ptxas' level for a level of its own.
std::string ptxasLevel(const std::string &Level) {
  return Level == "Os" || Level == "Oz" ? "O2" : Level;
}

class CompileServer {
public:
  explicit CompileServer(int Fd) : Link(Fd, Fd) {}
  int serve();

private:
  Expected<Frame> dispatch(const Frame &Request);
  Expected<Frame> pipelines(const json::Value &Request);
  Expected<Frame> load(const json::Value &Request, const Frame &F);
  Expected<Frame> build(const json::Value &Request);
  Expected<Frame> nvcc(const json::Value &Request);
  BuildResult originalPtx(uint64_t DeadlineMs);
  BuildResult checkPtx(const Variant &V, const std::string &Instrument,
                       uint64_t DeadlineMs);
  BuildResult buildCuda(const Variant &V, const std::string &Instrument,
                        uint64_t DeadlineMs);
  BuildResult buildCpu(const Variant &V, const std::string &Instrument,
                       uint64_t DeadlineMs);
  void findPromise(const Variant &V, BuildResult &R) const;
  const FrontEndResult &patched(const Variant &V, uint64_t DeadlineMs);
  Expected<std::vector<uint8_t>> codeOf(const Variant &V) const;
  Expected<std::vector<uint8_t>>
  codeOf(const Variant &V, const std::string &Instrument, ForkProduct &P) const;
  Expected<ForkProduct> makePtx(const Variant &V,
                                const std::string &Instrument);
  Expected<ForkProduct> makeObject(const Variant &V,
                                   const std::string &Instrument);
  bool isRecordedCode(const Variant &V, const std::string &Instrument) const;
  bool isRetargeted(const Variant &V, const std::string &Instrument) const;
  std::string assembling(const Variant &V) const;
  std::function<bool(const std::string &)> lookUp(const Variant &V,
                                                  ForkProduct &P) const;
  void learn(const json::Value &Request);

  Channel Link;
  std::string Backend, Kernel, Arch, Level;
  std::vector<std::string> Parameters;
  uint64_t Threads = 0;
  std::vector<uint8_t> Bitcode;
  std::unique_ptr<CudaClosure> Closure;
  /// Of the CPU device: plain, and with bounds checks; made once a forked copy
  /// has shown that it can be.
  std::unique_ptr<CpuClosure> Retargeted[2];
  bool Loaded = false;
  std::optional<FrontEnd> Sources;
  /// Of the build that is being made, where passes are counted.
  std::optional<uint64_t> PassLimit;
  /// Whether that may end where its IR or PTX is known, and the binaries that
  /// are known, by the digests of those.
  bool MaySkip = false;
  std::map<std::string, std::string> Known;
  /// Patched units, by patch: many variants of one source follow another.
  std::map<std::string, FrontEndResult> Patched;
};

Frame reply(std::string Json, std::vector<uint8_t> Blob = {}) {
  Frame F;
  F.Json = std::move(Json);
  F.Blob = std::move(Blob);
  return F;
}

int CompileServer::serve() {
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

Expected<Frame> CompileServer::dispatch(const Frame &F) {
  auto Request = json::parse(F.Json, "request");
  if (!Request)
    return Request.error();
  const std::string Verb = json::text(*Request, "verb", "");
  if (Verb == "pipelines")
    return pipelines(*Request);
  if (Verb == "load")
    return load(*Request, F);
  if (Verb == "build")
    return build(*Request);
  if (Verb == "nvcc")
    return nvcc(*Request);
  return fail(ErrorCode::Usage, "unknown verb %s", Verb.c_str());
}

Expected<Frame> CompileServer::pipelines(const json::Value &Request) {
  std::map<std::string, std::string> Texts;
  if (json::text(Request, "backend", "") == "cuda") {
    auto Printed = cudaPipelines(json::text(Request, "arch", ""));
    if (!Printed)
      return Printed.error();
    Texts = std::move(*Printed);
  } else {
    for (const char *L : {"O1", "O2", "O3", "Os"}) {
      auto Text = cpuDefaultPipeline(L);
      if (!Text)
        return Text.error();
      Texts[L] = std::move(*Text);
    }
  }
  Message List;
  for (const auto &[L, Text] : Texts)
    List.text(L.c_str(), Text);
  return reply(Message("reply").raw("pipelines", List.json()).json());
}

Expected<Frame> CompileServer::load(const json::Value &Request,
                                    const Frame &F) {
  Loaded = false;
  Backend = json::text(Request, "backend", "");
  Kernel = json::text(Request, "kernel", "");
  Arch = json::text(Request, "arch", "");
  Level = json::text(Request, "level", "");
  Parameters = readTexts(Request, "parameters");
  Threads = json::number(Request, "threads", 0);
  Bitcode = F.Blob;
  Closure.reset();
  for (auto &Each : Retargeted)
    Each.reset();
  Patched.clear();
  Known.clear();
  Sources.emplace(SourceUnit{readTexts(Request, "command"),
                             json::text(Request, "root", ""),
                             json::text(Request, "source", ""), Level},
                  Bitcode);
  if (Backend == "cuda") {
    auto Parsed = CudaClosure::parse(Bitcode, Kernel);
    if (!Parsed)
      return Parsed.error();
    Closure = std::move(*Parsed);
  }
  Loaded = true;
  return reply(Message("reply").json());
}

/// The patched unit of a variant; Ok: codeOf has it.
const FrontEndResult &CompileServer::patched(const Variant &V,
                                             uint64_t DeadlineMs) {
  auto Found = Patched.find(V.Patch);
  if (Found != Patched.end())
    return Found->second;
  if (Patched.size() >= MostPatched)
    Patched.clear();
  return Patched.emplace(V.Patch, Sources->compile(V.Patch, Kernel, DeadlineMs))
      .first->second;
}

/// What a source takes for granted and its guards do not say.
void CompileServer::findPromise(const Variant &V, BuildResult &R) const {
  const auto Start = Clock::now();
  auto Guards = allGuards(V);
  auto Found = Guards ? uncoveredPromise(Bitcode, Patched.at(V.Patch).Bitcode,
                                         Kernel, Parameters, *Guards)
                      : Expected<std::string>(Guards.error());
  R.Promise =
      Found ? *Found : "it cannot be looked at: " + Found.error().message();
  R.Ms["promises"] = msSince(Start);
}

Expected<std::vector<uint8_t>> CompileServer::codeOf(const Variant &V) const {
  const auto &Code = V.Patch.empty() ? Bitcode : Patched.at(V.Patch).Bitcode;
  return isSpecial(V) ? specialise(Code, Kernel, Parameters, V) : Code;
}

/// The same, instrumented; what is to be said of that goes into P.
Expected<std::vector<uint8_t>>
CompileServer::codeOf(const Variant &V, const std::string &Instrument,
                      ForkProduct &P) const {
  // The CPU device's own compiler checks bounds.
  if (Instrument.empty() || Instrument == "ptx" ||
      (Instrument == "bounds" && Backend == "cpu"))
    return codeOf(V);
  const auto Start = Clock::now();
  auto Plain = codeOf(V);
  if (!Plain)
    return Plain.error();
  // Another launch may have any block.
  const bool Own = V.Launch.empty() && V.Remap.empty();
  const PlainPipeline Pipeline{V.Pipeline, Level, V.Options, Backend == "cpu"};
  auto Code =
      instrument(*Plain, Kernel, Instrument,
                 Own || !Threads ? Threads : LaunchLimits().Threads, Pipeline);
  if (!Code)
    return Code.error();
  P.Sites = std::move(Code->Sites);
  P.Unseen = std::move(Code->Unseen);
  P.Numbers = std::move(Code->Numbers);
  P.Ms["instrument"] = msSince(Start);
  return std::move(Code->Bitcode);
}

/// Runs Work in a forked copy with the limits of a build. Binary: what it made.
template <typename Function>
static BuildResult buildForked(uint64_t DeadlineMs, Function Work) {
  ForkLimits Limits;
  Limits.DeadlineMs = DeadlineMs;
  Limits.CpuSeconds = DeadlineMs / 1000 + 1;
  ForkResult Made = runForked(Limits, Work);
  BuildResult R;
  R.Ending = Made.Ending;
  R.Message = std::move(Made.Message);
  R.Binary = std::move(Made.Product.Bytes);
  R.Ms = std::move(Made.Product.Ms);
  R.Sites = std::move(Made.Product.Sites);
  R.Unseen = std::move(Made.Product.Unseen);
  R.Numbers = std::move(Made.Product.Numbers);
  R.Passes = std::move(Made.Product.Passes);
  R.Ir = std::move(Made.Product.Ir);
  R.SameAs = std::move(Made.Product.SameAs);
  return R;
}

/// What the binary depends on besides the PTX, and besides the IR with the
/// level of the code generator.
std::string CompileServer::assembling(const Variant &V) const {
  return buildId() + "\n" + (V.Arch.empty() ? Arch : V.Arch) + "\n" +
         (V.PtxasLevel.empty() ? ptxasLevel(Level) : V.PtxasLevel) + "\n";
}

/// For code generators, in a forked copy: notes the IR in P, and whether what
/// it gives is known.
std::function<bool(const std::string &)>
CompileServer::lookUp(const Variant &V, ForkProduct &P) const {
  if (!MaySkip)
    return {};
  return [&](const std::string &Ir) {
    P.Ir = contentDigest(assembling(V) + (V.Level.empty() ? Level : V.Level) +
                         "\n" + Ir)
               .hex();
    auto Found = Known.find(P.Ir);
    if (Found == Known.end())
      return false;
    P.SameAs = Found->second;
    return true;
  };
}

/// The supervisor tells each once.
void CompileServer::learn(const json::Value &Request) {
  const std::vector<std::string> Ways = readTexts(Request, "ways");
  for (size_t At = 0; At + 1 < Ways.size(); At += 2)
    Known.emplace(Ways[At], Ways[At + 1]);
}

/// In a forked copy.
Expected<ForkProduct> CompileServer::makePtx(const Variant &V,
                                             const std::string &Instrument) {
  ForkProduct P;
  if (!V.Ptx.empty()) {
    P.Bytes.assign(V.Ptx.begin(), V.Ptx.end());
    return P;
  }
  std::unique_ptr<CudaClosure> Own;
  if (!Closure || !Instrument.empty() || !V.Patch.empty() || isSpecial(V)) {
    auto Code = codeOf(V, Instrument, P);
    if (!Code)
      return Code.error();
    auto Parsed = CudaClosure::parse(*Code, Kernel);
    if (!Parsed)
      return Parsed.error();
    Own = std::move(*Parsed);
  }
  P.Passes.Limit = PassLimit.value_or(UINT64_MAX);
  auto Ptx = (Own ? Own : Closure)
                 ->toPtx(V, Level, P.Ms, PassLimit ? &P.Passes : nullptr,
                         lookUp(V, P));
  if (!Ptx)
    return Ptx.error();
  P.Bytes.assign(Ptx->begin(), Ptx->end());
  return P;
}

BuildResult CompileServer::originalPtx(uint64_t DeadlineMs) {
  return buildForked(DeadlineMs, [&] { return makePtx(Variant(), ""); });
}

/// Somebody's PTX stands in for what is made of the original.
BuildResult CompileServer::checkPtx(const Variant &V,
                                    const std::string &Instrument,
                                    uint64_t DeadlineMs) {
  BuildResult R;
  if (Backend != "cuda") {
    R.Message = "PTX runs on a CUDA device only";
  } else if (!Instrument.empty() && Instrument != "ptx") {
    R.Message = "PTX cannot be instrumented";
  } else {
    R = originalPtx(DeadlineMs);
    if (R.Ending != Outcome::Ok)
      return R;
    R.Message = trust::ptxRefusal(
        trust::readPtx(
            {reinterpret_cast<const char *>(R.Binary.data()), R.Binary.size()}),
        trust::readPtx(V.Ptx), Kernel);
  }
  R.Ending = R.Message.empty() ? Outcome::Ok : Outcome::Refused;
  return R;
}

BuildResult CompileServer::buildCuda(const Variant &V,
                                     const std::string &Instrument,
                                     uint64_t DeadlineMs) {
  const auto Begin = Clock::now();
  BuildResult R =
      buildForked(DeadlineMs, [&] { return makePtx(V, Instrument); });
  if (R.Ending != Outcome::Ok || Instrument == "ptx" || !R.SameAs.empty())
    return R;
  const auto Used = static_cast<uint64_t>(msSince(Begin));
  PtxasOptions O;
  O.Arch = V.Arch.empty() ? Arch : V.Arch;
  O.Level = V.PtxasLevel.empty() ? ptxasLevel(Level) : V.PtxasLevel;
  O.Kernel = Kernel;
  O.DeadlineMs = DeadlineMs > Used ? DeadlineMs - Used : 1;
  const std::string Ptx(R.Binary.begin(), R.Binary.end());
  if (MaySkip) {
    R.Ptx = contentDigest(assembling(V) + Ptx).hex();
    if (auto Found = Known.find(R.Ptx); Found != Known.end()) {
      R.SameAs = Found->second;
      R.Binary.clear();
      return R;
    }
  }
  const auto Start = Clock::now();
  PtxasResult Assembled = runPtxas(Ptx, O);
  R.Ms["ptxas"] = msSince(Start);
  R.Ending = Assembled.Ending;
  R.Message = std::move(Assembled.Message);
  R.Binary = std::move(Assembled.Cubin);
  R.Registers = Assembled.Registers;
  R.Shared = Assembled.Shared;
  R.Spills = Assembled.Spills;
  return R;
}

/// In a forked copy.
Expected<ForkProduct> CompileServer::makeObject(const Variant &V,
                                                const std::string &Instrument) {
  ForkProduct P;
  CpuCompileOptions O;
  O.Kernel = Kernel;
  O.Pipeline = V.Pipeline.empty() ? "default<" + Level + ">" : V.Pipeline;
  O.Level = V.Level.empty() ? Level : V.Level;
  O.Options = V.Options;
  O.CheckBounds = Instrument == "bounds";
  P.Passes.Limit = PassLimit.value_or(UINT64_MAX);
  O.Counter = PassLimit ? &P.Passes : nullptr;
  O.IsKnown = lookUp(V, P);
  O.Ms = &P.Ms;
  auto Object = [&]() -> Expected<std::vector<uint8_t>> {
    if (isRetargeted(V, Instrument))
      return Retargeted[O.CheckBounds]->compile(O);
    auto Code = codeOf(V, Instrument, P);
    if (!Code)
      return Code.error();
    return compileForCpu(*Code, O);
  }();
  if (!Object)
    return Object.error();
  P.Bytes = std::move(*Object);
  return P;
}

/// Whether the code is that which was recorded, with or without bounds checks.
bool CompileServer::isRecordedCode(const Variant &V,
                                   const std::string &Instrument) const {
  return V.Patch.empty() && !isSpecial(V) &&
         (Instrument.empty() || Instrument == "bounds");
}

bool CompileServer::isRetargeted(const Variant &V,
                                 const std::string &Instrument) const {
  return isRecordedCode(V, Instrument) && Retargeted[Instrument == "bounds"];
}

BuildResult CompileServer::buildCpu(const Variant &V,
                                    const std::string &Instrument,
                                    uint64_t DeadlineMs) {
  BuildResult R =
      buildForked(DeadlineMs, [&] { return makeObject(V, Instrument); });
  const bool Bounds = Instrument == "bounds";
  if (R.Ending == Outcome::Ok && isRecordedCode(V, Instrument) &&
      !Retargeted[Bounds])
    if (auto Made = CpuClosure::make(Bitcode, Kernel, Bounds))
      Retargeted[Bounds] = std::move(*Made);
  return R;
}

Expected<Frame> CompileServer::build(const json::Value &Request) {
  if (!Loaded)
    return Error(ErrorCode::Usage, "build before load");
  const json::Value *Object = json::object(Request, "variant");
  auto V = Variant::parse(Object ? json::print(*Object) : "");
  if (!V)
    return V.error();
  const uint64_t DeadlineMs = json::number(Request, "deadlineMs", 20000);
  const std::string Instrument = json::text(Request, "instrument", "");
  PassLimit.reset();
  if (const auto Limit = json::number(Request, "passLimit"))
    PassLimit = *Limit;
  learn(Request);
  MaySkip = json::boolean(Request, "maySkip", false) && Instrument.empty() &&
            !PassLimit && V->Patch.empty() && V->Ptx.empty();
  const auto Start = Clock::now();
  BuildResult R;
  if (!V->Patch.empty()) {
    const FrontEndResult &Front = patched(*V, DeadlineMs);
    R.Ending = Front.Ending;
    R.Message = Front.Message;
    R.Ms["front-end"] = msSince(Start);
    R.LessPrecise = Front.LessPrecise;
    if (!R.LessPrecise.empty() &&
        !json::boolean(Request, "allowPrecision", false)) {
      R.Ending = Outcome::Refused;
      R.Message = "the change brings in " + R.LessPrecise +
                  ", which the kernel does not have (--allow-precision)";
    }
  }
  if (!V->Ptx.empty())
    R = checkPtx(*V, Instrument, DeadlineMs);
  if (R.Ending == Outcome::Ok) {
    BuildResult Before = std::move(R);
    R = Backend == "cuda" || Instrument == "ptx"
            ? buildCuda(*V, Instrument, DeadlineMs)
            : buildCpu(*V, Instrument, DeadlineMs);
    R.Ms.merge(Before.Ms);
    R.LessPrecise = std::move(Before.LessPrecise);
  }
  if (R.Ending == Outcome::Ok && Instrument.empty() && !V->Patch.empty())
    findPromise(*V, R);
  std::string Code = R.SameAs;
  if (R.Ending == Outcome::Ok && Code.empty() && Instrument != "ptx") {
    auto Name = codeDigest(R.Binary, Kernel);
    if (Name) {
      Code = Name->hex();
    } else {
      R.Ending = Outcome::BuildFailed;
      R.Message = Name.error().message();
    }
  }
  R.Ms["build"] = msSince(Start);
  return reply(Message("reply")
                   .outcome(R.Ending, R.Message)
                   .text("code", Code)
                   .number("registers", R.Registers)
                   .number("shared", R.Shared)
                   .number("spills", R.Spills)
                   .texts("sites", R.Sites)
                   .texts("unseen", R.Unseen)
                   .text("lessPrecise", R.LessPrecise)
                   .text("promise", R.Promise)
                   .numbers("numbers", R.Numbers)
                   .number("passRuns", R.Passes.Runs)
                   .text("nextPass", R.Passes.NextPass)
                   .text("nextPlace", R.Passes.NextPlace)
                   .text("ir", R.Ir)
                   .text("ptx", R.Ptx)
                   .flag("skipped", !R.SameAs.empty())
                   .times(R.Ms)
                   .json(),
               std::move(R.Binary));
}

/// The loaded kernel as nvcc compiles the recorded source.
Expected<Frame> CompileServer::nvcc(const json::Value &Request) {
  if (!Loaded)
    return Error(ErrorCode::Usage, "nvcc before load");
  const uint64_t DeadlineMs = json::number(Request, "deadlineMs", 20000);
  NvccResult R;
  auto failed = [&](Outcome Ending, const std::string &Why) {
    R = {Ending, Why, {}};
  };
  const FrontEndResult Source = Sources->checkUnit(Kernel, DeadlineMs);
  if (Source.Ending != Outcome::Ok)
    failed(Source.Ending, Source.Message);
  else
    R = runNvcc(Sources->unit(), Arch, DeadlineMs);
  if (R.Ending == Outcome::Ok) {
    const BuildResult Clang = originalPtx(DeadlineMs);
    if (Clang.Ending != Outcome::Ok)
      failed(Clang.Ending, Clang.Message);
    else if (auto Own = kernelOfNvcc(
                 R.Ptx,
                 {reinterpret_cast<const char *>(Clang.Binary.data()),
                  Clang.Binary.size()},
                 Kernel))
      R.Ptx = std::move(*Own);
    else
      failed(Outcome::BuildFailed, Own.error().message());
  }
  if (R.Ptx.size() > MostPtxBytes)
    failed(Outcome::Refused, format("the kernel has %zu bytes of PTX, at most "
                                    "%zu are taken",
                                    R.Ptx.size(), MostPtxBytes));
  return reply(Message("reply").outcome(R.Ending, R.Message).json(),
               {R.Ptx.begin(), R.Ptx.end()});
}

} // namespace

int compileMain(int Count, char **Arguments) {
  if (Count != 2) {
    std::fprintf(stderr, "r3-compile is started by r3-supervisor\n");
    return 2;
  }
  sigset_t None;
  sigemptyset(&None);
  sigprocmask(SIG_SETMASK, &None, nullptr);
  return CompileServer(std::atoi(Arguments[1])).serve();
}

} // namespace r3::replay
