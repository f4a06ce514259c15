// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The digests at the end of one run say what the next one has to restore, so
// memory is hashed once a run. Symbolic words are put in for the launch and
// taken out again before the digests, which are those of the recorded values.
#include "wrapper/replay/Runner.h"

#include "wrapper/replay/ReadOnly.h"
#include "wrapper/replay/Tracer.h"

#include "runtime/support/RemapAbi.h"
#include "runtime/support/RoundAbi.h"

#include <chrono>
#include <cstring>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;
/// Words nearer than this travel together. Less than any granularity: a stretch
/// never spans memory that is not mapped.
constexpr uint64_t PatchGapBytes = 1024;

double msSince(Clock::time_point Start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - Start)
      .count();
}

/// All that a launch may touch, but for module globals.
std::vector<AddressRange> recorded(const PlanLaunch &L) {
  std::vector<AddressRange> Result;
  for (const PlanRange &P : L.Ranges)
    if (P.What == PlanRange::Kind::Memory)
      Result.push_back({P.Address, P.Size});
  return Result;
}

} // namespace

Error Runner::open() {
  auto S = D.createStream();
  if (!S)
    return S.error();
  Stream = *S;
  for (EventHandle *Event : {&Begin, &End}) {
    auto Made = D.createEvent(/*Timing=*/true);
    if (!Made)
      return Made.error();
    *Event = *Made;
  }
  auto Word = D.allocateHost(sizeof(*Gate));
  if (!Word)
    return Word.error();
  Gate = static_cast<uint32_t *>(*Word);
  *Gate = GateValue;
  return ensureScratch(1 << 20);
}

Error Runner::ensure(Pinned &P, uint64_t Bytes) {
  if (P.Bytes >= Bytes)
    return {};
  if (P.At)
    if (Error E = D.freeHost(P.At))
      return E;
  P = Pinned();
  auto Fresh = D.allocateHost(Bytes);
  if (!Fresh)
    return Fresh.error();
  P = {static_cast<uint8_t *>(*Fresh), Bytes};
  return {};
}

LaunchConfig LoadedCode::configOf(size_t Launch, LaunchConfig Config) const {
  if (Launch < Launches.size()) {
    const LaunchConfig &To = Launches[Launch];
    Config.Grid = To.Grid;
    Config.Block = To.Block;
    Config.DynamicShared = To.DynamicShared;
    Config.MaxDynamicShared = To.MaxDynamicShared;
  }
  return Config;
}

Expected<KernelInfo> Runner::setCode(const std::string &Slot,
                                     std::span<const uint8_t> Image,
                                     const std::string &Kernel,
                                     std::vector<LaunchConfig> Launches) {
  Codes.erase(Slot);
  LoadedCode Code;
  Code.Launches = std::move(Launches);
  auto Module = D.load(Image);
  if (!Module)
    return Module.error();
  Code.Module = std::move(*Module);
  auto Handle = Code.Module->kernel(Kernel);
  if (!Handle)
    return Handle.error();
  Code.Kernel = *Handle;
  auto Info = D.info(Code.Kernel);
  if (!Info)
    return Info.error();
  Code.Info = *Info;
  Codes[Slot] = std::move(Code);
  return *Info;
}

std::optional<Address> Runner::baseOf(const PlanRange &P,
                                      const LoadedCode &Code) {
  if (P.What != PlanRange::Kind::Global)
    return P.Address;
  auto Found = Code.Module->global(P.Global);
  if (!Found || Found->Size < P.Size)
    return std::nullopt;
  return Found->Begin;
}

Expected<std::vector<Digest>> Runner::digestAll(const PlanLaunch &L,
                                                const LoadedCode &Code) {
  const std::vector<std::optional<Address>> Bases = basesOf(L, Code);
  ChunkDigests Pieces;
  for (size_t I = 0; I < L.Ranges.size(); ++I)
    if (Bases[I])
      Pieces.add({*Bases[I], L.Ranges[I].Size});
  if (Error E = ensureScratch(Pieces.bytes()))
    return E;
  if (Error E = Pieces.queue(D, Scratch.At, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  std::vector<Digest> Result;
  size_t Piece = 0;
  for (size_t I = 0; I < L.Ranges.size(); ++I)
    if (Bases[I])
      Pieces.append(Result, Piece++, Scratch.At);
    else // the code does not have this global, so it cannot change it
      Result.insert(Result.end(), L.Ranges[I].Before.begin(),
                    L.Ranges[I].Before.end());
  return Result;
}

/// Queues copies of the chunks of a range that differ; neighbours go in one
/// copy where the pool has them side by side. Of chunks that are all alike it
/// has one, and copies of that double in length.
Error Runner::restoreRange(const PlanRange &P, Address Base,
                           const Digest *Live) {
  const uint64_t Chunks = P.chunks();
  const auto differs = [&](uint64_t Chunk) {
    return Chunk < Chunks && !(Live && Live[Chunk] == P.Before[Chunk]);
  };
  for (uint64_t I = 0; I < Chunks;) {
    if (!differs(I)) {
      ++I;
      continue;
    }
    uint64_t Next = I + 1, Alike = I + 1;
    while (differs(Next) &&
           (P.What == PlanRange::Kind::Guard ||
            P.PoolOffset[Next] == P.PoolOffset[Next - 1] + ChunkBytes))
      ++Next;
    if (P.What != PlanRange::Kind::Guard && !Memory.poolInHost())
      while (differs(Alike) && P.PoolOffset[Alike] == P.PoolOffset[I] &&
             (Alike + 1) * ChunkBytes <= P.Size)
        ++Alike;
    Next = std::max(Next, Alike);
    const uint64_t From = I * ChunkBytes;
    const uint64_t Size = std::min(Next * ChunkBytes, P.Size) - From;
    if (Error E = Memory.makeWritable(Base + From, Size))
      return E;
    const bool Double = Next - I > 1 && Next == Alike;
    uint64_t Done = Double ? ChunkBytes : Size;
    Error E =
        P.What == PlanRange::Kind::Guard
            ? D.fill(Base + From, GuardByte, Size, Stream)
            : Memory.copyFromPool(P.PoolOffset[I], Done, Base + From, Stream);
    while (!E && Done < Size) {
      const uint64_t More = std::min(Done, Size - Done);
      E = D.copy(Base + From + Done, Base + From, More, Stream);
      Done += More;
    }
    if (E)
      return E;
    I = Next;
  }
  return {};
}

/// KeepPool: the pristine copies stay mapped, which takes longer than most
/// launches; for what does not run a variant next.
Error Runner::restore(const PlanLaunch &L, const LoadedCode &Code,
                      bool KeepPool) {
  if (Error E = Memory.openPool())
    return E;
  Error Failure;
  size_t At = 0;
  for (const PlanRange &P : L.Ranges) {
    const bool Global = P.What == PlanRange::Kind::Global;
    auto Base = baseOf(P, Code);
    // Each loaded code has its own copy of a global: always restored.
    if (Base && !Failure)
      Failure = restoreRange(P, *Base, Global ? nullptr : &Live[At]);
    At += P.chunks();
  }
  if (!Failure)
    Failure = Memory.finishCopies(Stream);
  Error Closed = KeepPool ? Error() : Memory.closePool();
  return Failure ? Failure : Closed;
}

/// What the symbolic words are in this process: in the argument bytes at once,
/// in memory as stretches for patch. A variant that has lost a symbol does not
/// use it; the original has all that were recorded.
Expected<std::vector<Runner::Patch>>
Runner::collect(const PlanLaunch &L, const LoadedCode &Code, bool Original,
                std::vector<uint8_t> &Arguments) {
  std::map<Address, uint64_t> Words;
  std::map<std::string, Expected<AddressRange>> Known;
  for (const SymbolicWord &S : L.Symbolic) {
    auto Found = Known.find(S.Name);
    if (Found == Known.end())
      Found = Known.emplace(S.Name, Code.Module->global(S.Name)).first;
    if (!Found->second && Original)
      return Found->second.error().in("a recorded word points to " + S.Name);
    if (!Found->second)
      continue;
    const uint64_t Value = Found->second->Begin + S.Addend;
    if (S.Allocation == 0xffffffffu)
      std::memcpy(Arguments.data() + S.Offset, &Value, 8);
    else if (auto Base = baseOf(L.Ranges[S.Allocation], Code))
      Words[*Base + S.Offset] = Value;
  }
  std::vector<Patch> Patches;
  uint64_t Bytes = 0;
  for (const auto &[Where, Value] : Words) {
    // Never over the end of a mapping: a stretch ends with a word.
    if (Patches.empty() ||
        Where - Patches.back().Begin - Patches.back().Size > PatchGapBytes) {
      Patches.push_back({Where, 0, Bytes, {}});
    }
    Patch &P = Patches.back();
    Bytes += Where + 8 - P.Begin - P.Size;
    P.Size = Where + 8 - P.Begin;
    P.Words.push_back({Where - P.Begin, 0, Value});
  }
  if (Error E = ensureScratch(Bytes))
    return E;
  return Patches;
}

Error Runner::readStretches(const std::vector<Patch> &Patches) {
  for (const Patch &P : Patches)
    if (Error E = D.copyToHost(Scratch.At + P.At, P.Begin, P.Size, Stream))
      return E;
  return D.synchronize(Stream, WaitMs);
}

Error Runner::writeStretches(const std::vector<Patch> &Patches) {
  for (const Patch &P : Patches)
    if (Error E = D.copyToDevice(P.Begin, Scratch.At + P.At, P.Size, Stream))
      return E;
  return D.synchronize(Stream, WaitMs);
}

Error Runner::patch(std::vector<Patch> &Patches) {
  if (Patches.empty())
    return {};
  if (Error E = readStretches(Patches))
    return E;
  for (Patch &P : Patches)
    for (Patch::Word &W : P.Words) {
      std::memcpy(&W.Recorded, Scratch.At + P.At + W.Offset, 8);
      std::memcpy(Scratch.At + P.At + W.Offset, &W.Resolved, 8);
    }
  return writeStretches(Patches);
}

Error Runner::unpatch(const std::vector<Patch> &Patches) {
  if (Patches.empty())
    return {};
  if (Error E = readStretches(Patches))
    return E;
  for (const Patch &P : Patches)
    for (const Patch::Word &W : P.Words) {
      // Another value is the kernel's own.
      if (!std::memcmp(Scratch.At + P.At + W.Offset, &W.Resolved, 8))
        std::memcpy(Scratch.At + P.At + W.Offset, &W.Recorded, 8);
    }
  return writeStretches(Patches);
}

Expected<double> Runner::launch(const LaunchConfig &Config,
                                const LoadedCode &Code,
                                std::span<const uint8_t> Arguments, bool Flush,
                                std::optional<uint8_t> Scratch) {
  if (Flush)
    if (Error E = D.flushCache(Stream))
      return E;
  if (Scratch)
    if (Error E = D.fillScratch(*Scratch, Code.Info.LocalBytes, Stream))
      return E;
  if (Error E = D.record(Begin, Stream))
    return E;
  if (Error E = D.launch(Code.Kernel, Config, Arguments, Stream))
    return E;
  if (Error E = D.record(End, Stream))
    return E;
  if (Error E = D.waitFor(End, LaunchWaitMs))
    return E;
  auto Ms = D.elapsedMs(Begin, End);
  if (!Ms)
    return Ms.error();
  return *Ms * 1e6;
}

std::vector<std::optional<Address>> Runner::basesOf(const PlanLaunch &L,
                                                    const LoadedCode &Code) {
  std::vector<std::optional<Address>> Bases;
  for (const PlanRange &P : L.Ranges)
    Bases.push_back(baseOf(P, Code));
  return Bases;
}

Error Runner::setSeed(const LoadedCode &Code, const char *Global,
                      uint64_t Seed) {
  auto Where = Code.Module->global(Global);
  if (!Where || Where->Size != sizeof(Seed))
    return fail(ErrorCode::Failed, "nothing in the code depends on %s", Global);
  if (Error E = D.copyToDevice(Where->Begin, &Seed, sizeof(Seed), Stream))
    return E;
  return D.synchronize(Stream, WaitMs);
}

Error Runner::poison(const Poison &Where, uint8_t Byte, const PlanLaunch &L,
                     const LoadedCode &Code) {
  for (const PoisonPiece &P : Where.List) {
    if (P.Range >= L.Ranges.size() || P.end() > L.Ranges[P.Range].Size)
      return fail(ErrorCode::Damaged, "poison outside of range %u", P.Range);
    auto Base = baseOf(L.Ranges[P.Range], Code);
    if (!Base)
      continue;
    Error E = P.Rows == 1 ? D.fill(*Base + P.Begin, Byte, P.Width, Stream)
                          : D.fillRows(*Base + P.Begin, P.Pitch, Byte, P.Width,
                                       P.Rows, Stream);
    if (E)
      return E;
  }
  return {};
}

Error Runner::lock(const PlanLaunch &L,
                   const std::optional<std::vector<uint64_t>> &Written) {
  if (!Written)
    return Memory.lock({});
  return Memory.lock(
      readOnlyMemory(Plan.Segments, L, *Written, D.protectionUnit()));
}

/// Knows what the memory holds, in terms of a launch.
Error Runner::ensureLive(size_t Launch, const LoadedCode &Code) {
  if (LiveLaunch == Launch)
    return {};
  auto Now = digestAll(Plan.Launches[Launch], Code);
  if (!Now)
    return Now.error();
  Live = std::move(*Now);
  LiveLaunch = Launch;
  return {};
}

RunResult Runner::failed(const Error &E, Outcome Default) {
  RunResult R;
  LiveLaunch.reset();
  const DeviceFault Fault = D.fault();
  R.Ending = Fault.Kind != Outcome::Ok        ? Fault.Kind
             : E.code() == ErrorCode::NoSpace ? Outcome::OutOfMemory
                                              : Default;
  R.Message = Fault.Message.empty() ? E.message() : Fault.Message;
  R.Sticky = Fault.Sticky;
  return R;
}

RunResult Runner::run(const Request &R, const std::function<void()> &Ready,
                      const std::function<void()> &Done) {
  auto Found = Codes.find(R.Slot);
  if (Found == Codes.end())
    return failed(Error(ErrorCode::NotFound, "no code is loaded as " + R.Slot),
                  Outcome::LaunchFailed);
  if (R.Launch >= Plan.Launches.size())
    return failed(fail(ErrorCode::NotFound, "launch %zu of %zu", R.Launch,
                       Plan.Launches.size()),
                  Outcome::LaunchFailed);
  LoadedCode &Code = Found->second;
  const PlanLaunch &L = Plan.Launches[R.Launch];
  RunResult Result;
  LastSlot = R.Slot;

  // A variant may have lost a global that it does not use; the program's own
  // code has all that were recorded.
  if (R.Slot == OriginalSlot)
    for (const PlanRange &P : L.Ranges)
      if (!baseOf(P, Code))
        return failed(Error(ErrorCode::NotFound,
                            "the original's code has no global " + P.Global),
                      Outcome::LaunchFailed);

  // Memory as recorded.
  auto Start = Clock::now();
  if (Error E = ensureLive(R.Launch, Code))
    return failed(E, Outcome::Crashed);
  if (Error E = restore(L, Code, R.Slot == OriginalSlot))
    return failed(E, Outcome::Crashed);
  LiveLaunch.reset();
  if (Error E = R.Dry ? Error() : lock(L, R.Written))
    return failed(E, Outcome::Crashed);
  Result.LockedBytes = Memory.lockedBytes();
  Result.Ms["restore"] = msSince(Start);

  // The launch, under the supervisor's deadline.
  Start = Clock::now();
  std::vector<Patch> Patches;
  if (!R.Dry) {
    std::vector<uint8_t> Arguments = L.Arguments;
    auto Found = collect(L, Code, R.Slot == OriginalSlot, Arguments);
    if (!Found)
      return failed(Found.error(), Outcome::LaunchFailed);
    Patches = std::move(*Found);
    if (Error E = patch(Patches))
      return failed(E, Outcome::LaunchFailed);
    D.limitAccess(recorded(L));
    if (Error E = poison(R.Where, R.PoisonByte, L, Code))
      return failed(E, Outcome::LaunchFailed);
    for (auto [Global, Seed] : {std::pair(round::RoundSeed, R.RoundSeed),
                                std::pair(remap::RemapSeed, R.OrderSeed)})
      if (Seed)
        if (Error E = setSeed(Code, Global, Seed))
          return failed(E, Outcome::LaunchFailed);
    std::optional<Tracer> Trace;
    if (R.Trace)
      if (Error E =
              Trace.emplace(D, Stream).begin(L, basesOf(L, Code), *Code.Module))
        return failed(E, Outcome::LaunchFailed);
    if (R.Count) {
      auto Where = countersOf(Code);
      if (Error E = Where ? D.fill(*Where, 0, sizeof(Operations), Stream)
                          : Where.error())
        return failed(E, Outcome::LaunchFailed);
    }
    const LaunchConfig Config = Code.configOf(R.Launch, L.Config);
    Ready();
    auto Ns = launch(Config, Code, Arguments, R.Flush, R.Scratch);
    Done();
    if (!Ns)
      return failed(Ns.error(), Outcome::LaunchFailed);
    Result.Ns = *Ns;
    Code.HasRun = true;
    if (Trace) {
      auto Print = Trace->end();
      if (!Print)
        return failed(Print.error(), Outcome::LaunchFailed);
      Result.Traced = std::move(*Print);
    }
    if (R.Count) {
      auto Found = readCounters(Code);
      if (!Found)
        return failed(Found.error(), Outcome::LaunchFailed);
      Result.Counted = *Found;
    }
  }
  Result.Ms["launch"] = msSince(Start);

  // What it left behind.
  Start = Clock::now();
  if (Error E = unpatch(Patches))
    return failed(E, Outcome::Crashed);
  auto After = digestAll(L, Code);
  if (!After)
    return failed(After.error(), Outcome::Crashed);
  Live = *After;
  LiveLaunch = R.Launch;
  Result.Digests = std::move(*After);
  Result.Ms["digest"] = msSince(Start);
  return Result;
}

Expected<std::vector<Digest>> Runner::digestPool() {
  constexpr size_t AtOnce = 4096; // chunks
  const std::vector<PoolChunk> &Pool = Plan.Pool;
  std::vector<Digest> Result;
  if (Error E = Memory.openPool(MemoryAccess::Read))
    return E;
  Error Failure;
  for (size_t From = 0; From < Pool.size() && !Failure; From += AtOnce) {
    const size_t To = std::min(Pool.size(), From + AtOnce);
    uint64_t Bytes = 0;
    for (size_t I = From; I < To; ++I)
      Bytes += roundUp(leavesOf(Pool[I].Size) * sizeof(LeafHash));
    Failure = ensureScratch(Bytes);
    uint64_t At = 0;
    for (size_t I = From; I < To && !Failure; ++I) {
      auto *Hashes = reinterpret_cast<LeafHash *>(Scratch.At + At);
      Failure = Memory.hashPool(Pool[I].Offset, Pool[I].Size, Hashes, Stream);
      At += roundUp(leavesOf(Pool[I].Size) * sizeof(LeafHash));
    }
    if (!Failure)
      Failure = D.synchronize(Stream, WaitMs);
    At = 0;
    for (size_t I = From; I < To && !Failure; ++I) {
      const uint64_t Leaves = leavesOf(Pool[I].Size);
      combine(Result, reinterpret_cast<LeafHash *>(Scratch.At + At), Leaves);
      At += roundUp(Leaves * sizeof(LeafHash));
    }
  }
  Error Closed = Memory.closePool();
  if (Failure || Closed)
    return Failure ? Failure : Closed;
  return Result;
}

Expected<std::vector<uint8_t>> Runner::readChunk(size_t Launch, size_t Range,
                                                 uint64_t Chunk) {
  auto Code = Codes.find(LastSlot);
  if (Launch >= Plan.Launches.size() || Code == Codes.end() ||
      Range >= Plan.Launches[Launch].Ranges.size() ||
      Chunk >= Plan.Launches[Launch].Ranges[Range].chunks())
    return fail(ErrorCode::NotFound, "no chunk %llu in range %zu",
                static_cast<unsigned long long>(Chunk), Range);
  const PlanRange &P = Plan.Launches[Launch].Ranges[Range];
  auto Base = baseOf(P, Code->second);
  if (!Base)
    return fail(ErrorCode::NotFound, "the code has no global %s",
                P.Global.c_str());
  const uint64_t Size = Recording::chunkSize(P.Size, Chunk);
  if (Error E =
          D.copyToHost(Scratch.At, *Base + Chunk * ChunkBytes, Size, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  return std::vector<uint8_t>(Scratch.At, Scratch.At + Size);
}

} // namespace r3::replay
