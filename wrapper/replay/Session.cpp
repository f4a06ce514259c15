// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hello, load, prepare, unload; evaluate is in Evaluate.cpp.
#include "wrapper/replay/Session.h"

#include "wrapper/replay/Compare.h"
#include "wrapper/replay/Cores.h"
#include "wrapper/replay/DeviceFiles.h"
#include "wrapper/replay/ElfCode.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

namespace r3::replay {

namespace {

// Known from the program only. The first launch also loads code and starts
// threads, on a busy machine for seconds; the original is no suspect.
constexpr uint64_t FirstDeadlineMs = 10000;
constexpr uint64_t UnknownDeadlineMs = 10000;
constexpr double DeadlineFactor = 20;
constexpr unsigned CheckedSlower = 5;
constexpr double MostDeadlineMs = 24 * 3600 * 1000.0;
constexpr unsigned MostRepetitions = 100000;
constexpr uint64_t NvccDeadlineMs = 120000; // of a whole unit
constexpr unsigned MostCompilers = 1024;

/// The device is served from one core. Of two it leaves enough for builds,
/// which take most of the time.
unsigned defaultCompilers() {
  const unsigned Cores = usableCores();
  return Cores > 2 ? Cores - 1 : Cores;
}

double median(std::vector<double> Values) {
  if (Values.empty())
    return 0;
  std::sort(Values.begin(), Values.end());
  return Values[Values.size() / 2];
}

} // namespace

std::string Session::answer(uint64_t Id, const std::string &Json) {
  RequestId = Id;
  auto Request = json::parse(Json, "request");
  if (!Request)
    return errorReply(Request.error());
  const std::string Verb = json::text(*Request, "verb", "");
  if (Compiler)
    Compiler->allowPrecision(json::boolean(*Request, "allowPrecision", false));
  Reply R = Verb == "hello"      ? hello(*Request)
            : Verb == "load"     ? load(*Request)
            : Verb == "prepare"  ? prepare(*Request)
            : Verb == "know"     ? know(*Request)
            : Verb == "evaluate" ? evaluate(*Request)
            : Verb == "measure"  ? measure(*Request)
            : Verb == "nvcc"     ? nvcc()
            : Verb == "rates"    ? rates()
            : Verb == "unload"
                ? unload()
                : Reply(Error(ErrorCode::Usage, "unknown verb " + Verb));
  return R ? *R : errorReply(R.error());
}

Session::Reply Session::hello(const json::Value &Request) {
  if (Device)
    return Error(ErrorCode::Usage, "hello was said before");
  auto Opened = Store::open(json::text(Request, "store", ""), /*Create=*/false);
  if (!Opened)
    return Opened.error();
  auto Lock = StoreLock::share(*Opened);
  if (!Lock)
    return Lock.error();
  InUse.emplace(std::move(*Lock));
  const uint64_t Wanted = json::number(Request, "compilers", 0);
  if (Wanted > MostCompilers)
    return fail(ErrorCode::Usage, "compilers: at most %u", MostCompilers);
  DeviceLink::Options O;
  O.Program = Setup.DeviceProgram;
  O.Backend = json::text(Request, "backend", "");
  O.Ordinal = static_cast<int>(json::number(Request, "device", 0));
  if (Setup.Confine)
    O.Files = deviceFiles(Opened->path());
  Device.emplace(O, All);
  if (Error E = Device->open()) {
    Device.reset();
    return E;
  }
  Compiler = std::make_shared<CompileLink>(Setup.CompileProgram,
                                           Setup.BuildGraceMs, All);
  TheStore.emplace(std::move(*Opened));
  auto Pipelines =
      Compiler->pipelines(Device->identity().Backend, Device->identity().Arch);
  if (!Pipelines)
    return Pipelines.error().in("default pipelines");
  const unsigned Compilers =
      Wanted ? static_cast<unsigned>(Wanted) : defaultCompilers();
  Ahead.open(Compilers);
  Message List;
  for (const auto &[Level, Text] : *Pipelines)
    List.text(Level.c_str(), Text);
  return Message("reply")
      .number("compilers", Compilers)
      .raw("identity", identityJson(Device->identity()))
      .raw("pipelines", List.json())
      .number("devicePid", static_cast<uint64_t>(Device->childPid()))
      .number("compilePid", static_cast<uint64_t>(Compiler->childPid()))
      .json();
}

/// The slots of the device child are empty.
void Session::forgetCode() {
  Checked.clear();
  Traced.reset();
  Instrumented.clear();
  TracedSource = {};
  VariantSites.reset();
  SincePristine = 0;
}

Session::Reply Session::unload() {
  if (Device)
    Device->unload();
  if (Compiler)
    Compiler->clearJob();
  Ahead.setJob(nullptr);
  Known.clear();
  Kernel.reset();
  Preparations.clear();
  forgetCode();
  OriginalPtx.reset();
  Insane.clear();
  return Message("reply").json();
}

Session::Reply Session::load(const json::Value &Request) {
  if (!Device)
    return Error(ErrorCode::Usage, "load before hello");
  const json::Value *Names = json::array(Request, "recordings");
  if (!Names)
    return Error(ErrorCode::Usage, "load names no recordings");
  std::vector<std::string> Paths;
  for (const json::Value &Path : Names->GetArray())
    Paths.emplace_back(Path.IsString() ? Path.GetString() : "");
  (void)unload();
  auto Read = KernelSet::read(*TheStore, Paths, Device->identity());
  if (!Read)
    return Read.error();
  Kernel.emplace(std::move(*Read));
  std::map<std::string, uint64_t> Unordered;
  if (const json::Value *Sizes = json::object(Request, "unordered"))
    for (const auto &Entry : Sizes->GetObject())
      Unordered[Entry.name.GetString()] =
          Entry.value.IsUint64() ? Entry.value.GetUint64() : 0;
  Error E = Kernel->setUnordered(std::move(Unordered));
  if (!E)
    E = loadMemory();
  if (!E)
    E = loadOriginal();
  for (size_t I = 0; !E && I < Kernel->recordings().size(); ++I)
    E = checkMemory(I);
  if (E) {
    (void)unload();
    return E;
  }
  Preparations.resize(Kernel->recordings().size());

  std::vector<std::string> List;
  for (const LoadedRecording &L : Kernel->recordings())
    List.push_back(Message()
                       .text("id", L.Id)
                       .number("footprint", L.Manifest.footprint())
                       .text("class", L.Manifest.Class)
                       .json());
  return Message("reply").raws("recordings", List).json();
}

Session::Reply Session::know(const json::Value &Request) {
  if (!Kernel)
    return Error(ErrorCode::Usage, "know before load");
  const json::Value *List = json::array(Request, "binaries");
  if (!List)
    return Error(ErrorCode::Usage, "know names no binaries");
  for (const json::Value &Each : List->GetArray())
    if (Each.IsObject())
      Known.add(json::text(Each, "code", ""), json::text(Each, "ir", ""),
                json::text(Each, "ptx", ""));
  return Message("reply").json();
}

Error Session::loadMemory() {
  auto Plan = Kernel->plan(Device->granularity(), Device->alignment());
  if (!Plan)
    return Plan.error();
  const std::vector<int> Packs = Kernel->packFds();
  Error E = Device->load(std::move(*Plan), Packs);
  // From here on no process but this one can read recorded contents.
  Kernel->closePacks();
  return E;
}

/// Where the unit's source lies: the recorded command names it from a folder,
/// the descriptor from the root.
static void setSource(const Unit &U, const std::string &Arch, CompileJob &Job) {
  auto Found = U.Commands.find(Arch);
  if (Found == U.Commands.end() || Found->second.empty())
    return;
  const std::filesystem::path Folder = compileDirectory(Found->second);
  const std::string File =
      (Folder / Found->second.back()).lexically_normal().string();
  if (!File.ends_with("/" + U.Source))
    return;
  Job.Command = Found->second;
  Job.Source = U.Source;
  Job.Root = File.substr(0, File.size() - U.Source.size() - 1);
}

/// The digest of the kernel's code in the program, which a variant's build is
/// compared with; where it cannot be found, of the image, which none equals.
static std::string programCode(std::span<const uint8_t> Image,
                               const Recording &R) {
  auto Cubin = cubinIn(Image, R.Arch);
  if (!Cubin)
    return contentDigest(Image).hex();
  auto Code = codeDigest(*Cubin, R.Name);
  return (Code ? *Code : contentDigest(Image)).hex();
}

/// In threads.
static uint64_t largestBlock(const std::vector<LoadedRecording> &Recordings) {
  uint64_t Most = 0;
  for (const LoadedRecording &L : Recordings) {
    const Dim3 &Block = L.Manifest.Launch.Block;
    Most = std::max(Most, uint64_t(Block[0]) * Block[1] * Block[2]);
  }
  return Most;
}

/// Which fields are whole parameters.
static std::vector<std::string> parameterNames(const Unit &U,
                                               const std::string &Kernel) {
  std::vector<std::string> Names;
  const UnitKernel *K = U.findKernel(Kernel);
  for (const UnitParameter &P : K ? K->Parameters : decltype(K->Parameters)()) {
    Names.emplace_back();
    for (const ArgumentField &F : K->Fields)
      if (F.Offset == P.Offset && F.Size == P.Size)
        Names.back() = F.Name;
  }
  return Names;
}

Error Session::loadOriginal() {
  const Recording &First = Kernel->first();
  auto Bitcode = Kernel->bitcode(*TheStore);
  if (Bitcode) {
    CompileJob Job{Device->identity().Backend, First.Name, First.Arch,
                   First.Level, std::move(*Bitcode)};
    if (const auto &U = Kernel->unit()) {
      setSource(*U, First.Arch, Job);
      Job.Parameters = parameterNames(*U, First.Name);
    }
    Job.Threads = largestBlock(Kernel->recordings());
    Compiler->setJob(Job);
    Ahead.setJob(std::make_shared<const CompileJob>(std::move(Job)));
  }
  if (Device->identity().Backend == "cuda") {
    auto Image = Kernel->image(*TheStore);
    if (!Image)
      return Image.error().in("the original of " + First.Display);
    OriginalCode = programCode(*Image, First);
    OriginalBinary = std::move(*Image);
  } else {
    if (!Bitcode)
      return Bitcode.error().in("the original of " + First.Display);
    Build B = Compiler->build("{}", Setup.BuildDeadlineMs);
    if (B.Ending != Outcome::Ok)
      return Error(ErrorCode::CannotRunHere,
                   "the original cannot be built: " + B.Message);
    OriginalCode = B.Code;
    OriginalBinary = std::move(B.Binary);
  }
  Attempt A = Device->setCode(OriginalSlot, OriginalBinary, First.Name);
  if (!A.ok())
    return Error(ErrorCode::Failed,
                 "the original cannot be loaded: " + A.Message);
  return {};
}

/// The memory that a launch starts from is what the recorder saw.
Error Session::checkMemory(size_t Index) {
  const LoadedRecording &L = Kernel->recordings()[Index];
  Attempt A = Device->run({Index, OriginalSlot, false, /*Dry=*/true, 0});
  if (!A.ok())
    return Error(ErrorCode::Failed,
                 "loading recording " + L.Id.substr(0, 8) + ": " + A.Message);
  const auto Wrong = trust::differing(L.Before, A.Digests);
  if (Wrong.empty())
    return {};
  return fail(ErrorCode::Damaged,
              "recording %s: %zu of %zu chunks in device memory are not what "
              "was recorded (packs damaged?)",
              L.Id.substr(0, 8).c_str(), Wrong.size(), L.Before.size());
}

uint64_t Session::deadlineMs(size_t Index, unsigned Slower) const {
  const Prepared &P = Preparations[Index];
  const double KnownNs =
      P.OriginalNs > 0
          ? P.OriginalNs
          : double(Kernel->recordings()[Index].Manifest.DurationNs);
  const auto Scaled = static_cast<uint64_t>(
      std::min(KnownNs * DeadlineFactor * Slower / 1e6, MostDeadlineMs));
  return std::max(Scaled, P.OriginalNs > 0 ? Setup.LeastDeadlineMs
                          : KnownNs > 0    ? FirstDeadlineMs
                                           : UnknownDeadlineMs);
}

trust::Judgement
Session::checkAccesses(size_t Index, const std::string &VariantJson,
                       const std::vector<LaunchConfig> &Launches,
                       std::map<std::string, double> &Ms,
                       std::optional<Build> Built) {
  if (!checksBounds())
    return {};
  if (Checked != VariantJson) {
    Checked.clear();
    Build B =
        Built ? std::move(*Built)
              : Compiler->build(VariantJson, Setup.BuildDeadlineMs, "bounds");
    Ms["checked-build"] += B.Ms["build"];
    if (B.Ending != Outcome::Ok)
      return {B.Ending, "built with bounds checks: " + B.Message};
    Attempt Loaded = Device->setCode(CheckedSlot, std::move(B.Binary),
                                     Kernel->first().Name, Launches);
    if (!Loaded.ok())
      return {Loaded.Ending, Loaded.Message};
    Checked = VariantJson;
  }
  Attempt A = Device->run({Index, CheckedSlot, /*Flush=*/false, /*Dry=*/false,
                           deadlineMs(Index, CheckedSlower)});
  Ms["checked-launch"] += A.Ms["launch"];
  return {A.Ending, A.Message};
}

DeviceLink::RunRequest Session::request(size_t Index, const char *Slot,
                                        const Poison &Where,
                                        size_t Pattern) const {
  DeviceLink::RunRequest R{Index, Slot, flushes()};
  R.DeadlineMs = deadlineMs(Index);
  R.Written = Preparations[Index].Written;
  if (Pattern < std::size(PoisonBytes) && Where.Bytes) {
    R.PoisonByte = PoisonBytes[Pattern];
    R.Where = &Where;
  }
  return R;
}

trust::Judgement Session::judgeEnding(size_t Index, const Attempt &A) const {
  if (A.DeniedAt) {
    const std::string Where = placeOf(Kernel->recordings()[Index], *A.DeniedAt);
    return {A.Ending, "it writes what the original never writes: " + Where};
  }
  return {A.Ending, A.Message};
}

/// An original that writes what it did not write while it was traced is
/// launched without read-only memory, and so are its variants.
Attempt Session::runOriginal(size_t Index, size_t Pattern, Prepared &P) {
  DeviceLink::RunRequest R = request(Index, OriginalSlot, P.Where, Pattern);
  R.Written = P.Written;
  Attempt A = Device->run(R);
  if (A.ok())
    P.LockedBytes = A.LockedBytes;
  if (A.Ending != Outcome::IllegalAccess || !P.Written)
    return A;
  R.Written.reset();
  const Attempt Again = Device->run(R);
  if (!Again.ok())
    return A;
  P.NotLocked = "the original: " + judgeEnding(Index, A).Message;
  P.Written.reset();
  return Again;
}

Error Session::replayOriginal(size_t Index, unsigned Repetitions) {
  const LoadedRecording &L = Kernel->recordings()[Index];
  Prepared P;
  P.Base.emplace(L.Buffers,
                 "r3 record --closure all -k '" + L.Manifest.Display + "'");
  auto Conclude = [&](trust::Judgement J) {
    P.Verdict = std::move(J);
    P.Done = true;
    Preparations[Index] = std::move(P);
    return Error();
  };
  if (auto J = traceOriginal(Index, P); !J.ok())
    return Conclude(std::move(J));
  if (auto J = trust::judgeEvidence(L.Manifest, P.Where.Bytes); !J.ok())
    return Conclude(std::move(J));
  if (!P.Untraced.empty())
    if (auto J = checkAccesses(Index, "{}", {}, P.Ms); !J.ok())
      return Conclude({J.Result, "the original: " + J.Message});
  // Launches more than asked for, one a pattern: their time is not counted.
  constexpr unsigned Patterns = std::size(PoisonBytes);
  for (unsigned I = 0; I < Patterns + Repetitions; ++I) {
    if (Cancelled)
      return Error(ErrorCode::Interrupted, "cancelled");
    Attempt A = runOriginal(Index, I, P);
    for (const auto &[Step, Ms] : A.Ms)
      P.Ms[Step] += Ms;
    if (!A.ok())
      return Conclude(
          {A.Ending, "the original: " + judgeEnding(Index, A).Message});
    if (I >= Patterns)
      P.Ns.push_back(A.Ns);
    P.Base->beginReplay();
    auto Compared = compareRun(*Kernel, Index, *Device, A.Digests,
                               [&](const trust::DifferingChunk &Chunk) {
                                 P.Base->addChunk(Chunk);
                                 return !P.Base->decided();
                               });
    if (!Compared)
      return Compared.error();
    P.Base->endReplay();
    if (!Compared->Guards.ok())
      return Conclude({Compared->Guards.Result,
                       "the original: " + Compared->Guards.Message});
    if (P.Base->decided())
      break;
  }
  P.OriginalNs = median(P.Ns);
  return Conclude(P.Base->finish());
}

Session::Reply Session::prepare(const json::Value &Request) {
  const uint64_t Index = json::number(Request, "recording", 0);
  if (Index >= Preparations.size())
    return fail(ErrorCode::Usage, "recording %llu of %zu",
                static_cast<unsigned long long>(Index), Preparations.size());
  const uint64_t Repetitions = json::number(Request, "repetitions", 1);
  if (!Repetitions || Repetitions > MostRepetitions)
    return fail(ErrorCode::Usage, "repetitions must be 1 to %u",
                MostRepetitions);
  if (Error E = replayOriginal(Index, static_cast<unsigned>(Repetitions)))
    return E;
  const Prepared &P = Preparations[Index];
  const FloorReport Floor = floorOfOriginal(Index);
  std::vector<std::string> Buffers;
  for (size_t I = 0; I < P.Base->buffers().size(); ++I) {
    const trust::Buffer &B = P.Base->buffers()[I];
    const trust::Noise &N = P.Base->noise()[I];
    if (!N.ChangedBytes)
      continue;
    Buffers.push_back(Message()
                          .text("name", B.Name)
                          .number("address", B.Address)
                          .number("size", B.Size)
                          .number("type", static_cast<uint64_t>(B.Type))
                          .number("changedBytes", N.ChangedBytes)
                          .real("maxDifference", N.Spread)
                          .real("rms", N.Rms)
                          .json());
  }
  return Message("reply")
      .outcome(P.Verdict.Result, P.Verdict.Message)
      .flag("bitExact", P.Verdict.ok() && P.Base->bitExact())
      .number("readBytes", P.Print ? P.Print->readBytes() : 0)
      .number("writtenBytes", P.Print ? P.Print->writtenBytes() : 0)
      .number("poisonedBytes", P.Where.Bytes)
      .text("untraced", P.Untraced)
      .raws("buffers", Buffers)
      .reals("originalNs", P.Ns)
      .real("programNs",
            double(Kernel->recordings()[Index].Manifest.DurationNs))
      .raw("floor", floorJson(Floor))
      .times(P.Ms)
      .json();
}

Session::Reply Session::nvcc() {
  if (!Kernel)
    return Error(ErrorCode::Usage, "nvcc before load");
  const Build B = Compiler->nvcc(NvccDeadlineMs);
  return Message("reply")
      .outcome(B.Ending, B.Message)
      .text("ptx",
            {reinterpret_cast<const char *>(B.Binary.data()), B.Binary.size()})
      .json();
}

} // namespace r3::replay
