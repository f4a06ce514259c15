// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The recorder's stream is used for everything but the launch itself, after
// the program's streams were seen to be quiet. Digests are taken before and
// after the copy: where they differ, somebody changed memory meanwhile.
#include "runtime/record/Take.h"

#include "runtime/record/Closure.h"
#include "runtime/record/LeaveBehind.h"
#include "runtime/record/Publish.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace r3::record {

Take::Take(Recorder &R, DeviceState &S, KernelState &K,
           const LaunchRequest &Request, std::vector<uint8_t> Arguments)
    : R(R), S(S), K(K), Request(Request), Arguments(std::move(Arguments)) {}

Take::~Take() {
  if (Begun && !Published)
    R.Out->abandon([&R = R](const Error &E) { R.switchOff(E.message()); });
  if (Times)
    S.Times.cancel(Times);
}

Reason Take::failed(const Error &E) {
  Detail = E.message();
  if (S.Reader.isLost())
    S.Dead = true;
  if (E.code() == ErrorCode::Timeout)
    return Reason::NotQuiet;
  // After a fault every call fails: nothing more is recorded here.
  if (S.D.fault().Sticky)
    S.Dead = true;
  return Reason::DeviceError;
}

Reason Take::before() {
  if (Error E =
          R.Known.waitUntilQuiet(S.D, Request.Stream, R.Options.TimeoutMs))
    return failed(E);
  if (Reason Why = findTargets(); Why != Reason::None)
    return Why;
  if (Reason Why = checkKinds(); Why != Reason::None)
    return Why;
  R.Out->begin();
  Begun = true;
  if (Reason Why = saveBefore(); Why != Reason::None)
    return Why;
  return findSymbols();
}

Reason Take::findGlobals() {
  auto [It, New] = S.Globals.try_emplace(K.Unit);
  if (New)
    for (const UnitGlobal &G : K.Unit->Unit->Globals) {
      Expected<AddressRange> Where = R.Around.FindGlobal(S.D, K, *K.Unit, G);
      if (Where && Where->Begin && Where->Size)
        It->second.push_back(
            {Where->Begin, Where->Size, MemoryKind::Global, 0, false, G.Name});
    }
  Globals = It->second;
  for (const std::string &Name : K.Code->Globals)
    if (std::none_of(Globals.begin(), Globals.end(),
                     [&](const Allocation &A) { return A.Global == Name; })) {
      Detail = Name;
      return Reason::GlobalHidden;
    }
  return Reason::None;
}

/// Memory that others allocated (libraries without R3), where the argument is
/// known to be a pointer.
void Take::addUnknown(std::vector<Allocation> &Targets) {
  for (const ArgumentField &F : K.Info->Fields) {
    Address Where = 0;
    if (F.Type != ValueType::Pointer || F.Size != sizeof(Where) ||
        F.Offset + sizeof(Where) > Arguments.size())
      continue;
    std::memcpy(&Where, Arguments.data() + F.Offset, sizeof(Where));
    auto Contains = [&](const Allocation &A) {
      return Where >= A.Begin && Where <= A.end();
    };
    if (!Where || std::any_of(Targets.begin(), Targets.end(), Contains) ||
        std::any_of(Globals.begin(), Globals.end(), Contains))
      continue;
    Expected<AddressRange> Range = S.D.allocationOf(Where);
    if (Range && Range->Size)
      Targets.push_back({Range->Begin,
                         Range->Size,
                         MemoryKind::Device,
                         Recorder::currentOrdinal(),
                         false,
                         {}});
    else if (Detail.empty())
      Detail =
          "argument " + F.Name + " points to memory that is not the device's";
  }
}

Reason Take::findTargets() {
  if (Reason Why = findGlobals(); Why != Reason::None)
    return Why;
  std::vector<Allocation> Targets = R.Memory.snapshot();
  addUnknown(Targets);
  Targets.insert(Targets.end(), Globals.begin(), Globals.end());
  // Stable: a global comes after the memory that it was found in, and wins.
  std::stable_sort(Targets.begin(), Targets.end(),
                   [](const Allocation &A, const Allocation &B) {
                     return A.Begin < B.Begin;
                   });
  std::vector<Allocation> Disjoint;
  for (Allocation &A : Targets) {
    if (!Disjoint.empty() && Disjoint.back().end() > A.Begin) {
      if (A.Kind != MemoryKind::Global)
        continue;
      Disjoint.pop_back();
    }
    Disjoint.push_back(std::move(A));
  }
  std::vector<size_t> Roots;
  for (size_t I = 0; I < Disjoint.size(); ++I)
    if (Disjoint[I].Kind == MemoryKind::Global &&
        std::count(K.Code->Globals.begin(), K.Code->Globals.end(),
                   Disjoint[I].Global))
      Roots.push_back(I);
  Expected<std::vector<size_t>> Found =
      reachable(S.D, S.Own, Arguments, Disjoint, Roots,
                {R.Options.Everything, R.Options.TimeoutMs});
  if (!Found)
    return failed(Found.error());
  for (size_t I : *Found)
    Reached.push_back(Disjoint[I]);
  return Reason::None;
}

Reason Take::checkKinds() {
  for (const Allocation &A : Reached) {
    bool OfDevice = A.Kind == MemoryKind::Device || A.Kind == MemoryKind::Pool;
    if (A.Imported)
      return Reason::ImportedMemory;
    if (OfDevice && A.Ordinal != Recorder::currentOrdinal())
      return Reason::PeerMemory;
    if (A.Kind == MemoryKind::Pool && S.Identity.Backend == "cuda")
      return Reason::PoolMemory;
  }
  return Reason::None;
}

std::vector<AddressRange> Take::ranges() const {
  std::vector<AddressRange> Out;
  for (const Allocation &A : Reached)
    Out.push_back({A.Begin, A.Size});
  return Out;
}

/// Saves what the store does not have; the bytes that this takes.
Expected<uint64_t> Take::save(std::span<const WantedChunk> Chunks) {
  std::vector<WantedChunk> Fresh;
  std::unordered_set<Digest> Seen;
  uint64_t Bytes = 0;
  for (const WantedChunk &C : Chunks) {
    if (R.Out->knows(C.Name) || !Seen.insert(C.Name).second)
      continue;
    Fresh.push_back(C);
    Bytes += C.Size;
  }
  if (Bytes > R.limitLeft())
    return fail(ErrorCode::NoSpace,
                "%.1f MB to write, %.1f MB left of the limit", Bytes / 1e6,
                R.limitLeft() / 1e6);
  if (Error E = S.Reader.save(Fresh, *R.Out))
    return E;
  return Bytes;
}

Reason Take::saveBefore() {
  std::vector<AddressRange> Where = ranges();
  auto First = S.Reader.digests(Where);
  if (!First)
    return failed(First.error());
  std::vector<WantedChunk> Chunks;
  for (size_t I = 0; I < Where.size(); ++I)
    for (size_t C = 0; C < (*First)[I].size(); ++C)
      Chunks.push_back({Where[I].Begin + C * ChunkBytes,
                        uint32_t(Recording::chunkSize(Where[I].Size, C)),
                        (*First)[I][C], I});
  if (Expected<uint64_t> Bytes = save(Chunks); !Bytes) {
    if (Bytes.error().code() != ErrorCode::NoSpace)
      return failed(Bytes.error());
    Detail = Bytes.error().message();
    return Reason::TooLarge;
  }
  auto Second = S.Reader.digests(Where);
  if (!Second)
    return failed(Second.error());
  if (*First != *Second)
    return Reason::MemoryChanged;
  Before = std::move(*First);
  return Reason::None;
}

void Take::addSymbols(uint32_t Where, uint64_t Base,
                      std::span<const uint8_t> Bytes) {
  eachWord(Bytes, [&](size_t At, uint64_t Word) {
    ptrdiff_t Index = targetOf(Globals, Word);
    if (Index < 0)
      return;
    const Allocation &G = Globals[Index];
    // The end of a global may be the beginning of something else.
    if (Word == G.end() && targetOf(Reached, Word) >= 0 &&
        Reached[targetOf(Reached, Word)].Begin == Word)
      return;
    Symbols.push_back({Where, Base + At, SymbolicWord::Kind::ModuleGlobal,
                       G.Global, Word - G.Begin});
  });
}

Reason Take::findSymbols() {
  std::sort(Globals.begin(), Globals.end(),
            [](const Allocation &A, const Allocation &B) {
              return A.Begin < B.Begin;
            });
  if (Globals.empty())
    return Reason::None;
  addSymbols(0xffffffffu, 0, Arguments);
  std::vector<AddressRange> Wanted;
  for (const Allocation &G : Globals)
    Wanted.push_back({G.Begin, G.Size});
  std::vector<std::vector<uint8_t>> Flags(Reached.size(),
                                          std::vector<uint8_t>(Wanted.size()));
  Error E;
  for (size_t I = 0; I < Reached.size() && !E; ++I)
    E = S.D.scanPointers(Reached[I].Begin, Reached[I].Size, Wanted,
                         Flags[I].data(), S.Own);
  if (Error T = S.D.synchronize(S.Own, R.Options.TimeoutMs)) {
    leaveBehind(std::move(Flags)); // still being written
    S.Dead = true;
    return failed(T);
  }
  if (E)
    return failed(E);
  std::vector<uint32_t> Flagged;
  for (size_t I = 0; I < Flags.size(); ++I)
    if (std::count(Flags[I].begin(), Flags[I].end(), 1))
      Flagged.push_back(uint32_t(I));
  if (Error F = findSymbolsIn(Flagged, Wanted))
    return failed(F);
  return Reason::None;
}

Error Take::findSymbolsIn(std::span<const uint32_t> Flagged,
                          std::span<const AddressRange> Wanted) {
  // Words at 4-byte steps may cross a chunk's end by 4 bytes.
  std::vector<uint8_t> Bytes(ChunkBytes + 4);
  std::vector<uint8_t> Flags(Wanted.size());
  for (uint32_t Index : Flagged) {
    const Allocation &A = Reached[Index];
    for (uint64_t At = 0; At < A.Size; At += ChunkBytes) {
      uint64_t Size = std::min<uint64_t>(Bytes.size(), A.Size - At);
      if (A.Size > 16 * ChunkBytes) {
        std::fill(Flags.begin(), Flags.end(), 0);
        Error E =
            S.D.scanPointers(A.Begin + At, Size, Wanted, Flags.data(), S.Own);
        Error T = S.D.synchronize(S.Own, R.Options.TimeoutMs);
        if (T) {
          leaveBehind(std::move(Flags));
          return T;
        }
        if (E)
          return E;
        if (!std::count(Flags.begin(), Flags.end(), 1))
          continue;
      }
      if (Error E = S.Reader.read(A.Begin + At, Bytes.data(), Size)) {
        if (S.Reader.isLost())
          leaveBehind(std::move(Bytes));
        return E;
      }
      addSymbols(Index, At, {Bytes.data(), Size});
    }
  }
  return Error::success();
}

int Take::launch(OriginalLaunch Original) {
  LaunchedAt = std::chrono::steady_clock::now();
  Times = S.Times.begin(Request.Stream);
  int Result = Original();
  if (!Times)
    return Result;
  if (Result)
    S.Times.cancel(std::exchange(Times, {}));
  else if (!S.Times.end(Times, Request.Stream, nullptr))
    Times = {};
  return Result;
}

Reason Take::after(int LaunchResult) {
  if (LaunchResult) {
    Detail = format("the launch returned error %d", LaunchResult);
    return Reason::LaunchFailed;
  }
  if (Error E = S.D.synchronize(Request.Stream, R.Options.TimeoutMs))
    return failed(E);
  ProgramNs = uint64_t(std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::steady_clock::now() - LaunchedAt)
                           .count());
  if (Times)
    DurationNs = S.Times.read(std::exchange(Times, {}));
  std::vector<AddressRange> Where = ranges();
  auto Now = S.Reader.digests(Where);
  if (!Now)
    return failed(Now.error());
  std::vector<WantedChunk> Chunks;
  Changed.resize(Where.size());
  for (size_t I = 0; I < Where.size(); ++I)
    for (size_t C = 0; C < Before[I].size(); ++C) {
      const Digest &After = (*Now)[I][C];
      if (After == Before[I][C])
        continue;
      Changed[I].push_back({C, After});
      Chunks.push_back({Where[I].Begin + C * ChunkBytes,
                        uint32_t(Recording::chunkSize(Where[I].Size, C)), After,
                        I});
    }
  if (Expected<uint64_t> Bytes = save(Chunks); !Bytes) {
    if (Bytes.error().code() != ErrorCode::NoSpace)
      return failed(Bytes.error());
    Detail = Bytes.error().message();
    return Reason::TooLarge;
  }
  return R.Door.wasDisturbed() ? Reason::MemoryChanged : Reason::None;
}

bool Take::changedMemory() const {
  return std::any_of(Changed.begin(), Changed.end(),
                     [](const auto &Chunks) { return !Chunks.empty(); });
}

void Take::publish(const std::string &Class, uint64_t Ordinal,
                   std::shared_ptr<KeptRecording> Kept) {
  Recording Out;
  Out.Key = K.Code->Key;
  Out.Name = K.Name;
  Out.Display = K.Info->Display;
  Out.Home = K.Info->Home;
  Out.Arch = K.Module->Arch;
  Out.Unit = K.Unit->Unit->Id;
  Out.Module = K.Module->Content;
  Out.Level = K.Unit->Unit->Level;
  Out.Launch = Request.Config;
  Out.Device = S.Identity;
  Out.Arguments = std::move(Arguments);
  Out.Fields = K.Info->Fields;
  Out.Class = Class;
  for (size_t I = 0; I < Reached.size(); ++I)
    Out.Allocations.push_back({Reached[I].Begin, Reached[I].Size,
                               Reached[I].Kind, Reached[I].Global,
                               std::move(Before[I]), std::move(Changed[I])});
  Out.Symbolic = std::move(Symbols);
  // What the program saw is better than this launch on a quiet device; the
  // first launch tells nothing.
  Out.DurationNs =
      K.Stats.Sampled && !K.OnlyCold ? K.Stats.SampledNs / K.Stats.Sampled : 0;
  Out.Ordinal = Ordinal;
  Out.LaunchesSeen = K.Choice->launches();
  Out.Rank = R.Rank;
  Out.Reason = K.Code->Reason;
  Out.Detail = K.Code->Reason.empty() ? Detail : K.Code->Detail;
  Out.TakenAt = uint64_t(
      std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
  Published = true;
  bool SaveImage = S.Identity.Backend == "cuda";
  uint64_t Footprint = Out.footprint();
  R.Out->finish(
      {[&R = R, &K = K, Kept, SaveImage, Footprint,
        Out = std::make_shared<Recording>(std::move(Out))]() -> Error {
         bool Replaced = false;
         if (Error E = writeRecording(R.Out->store(), *K.Unit, *Out, SaveImage,
                                      *Kept, Replaced))
           return E;
         std::lock_guard Guard(K.Lock);
         K.Stats.Recorded += !Replaced;
         K.Stats.BytesRecorded += Footprint;
         R.update(K);
         return Error::success();
       },
       [&R = R, &K = K](const Error &E) {
         R.note(K, Reason::DiskFull, E.message());
         R.switchOff(E.message());
       }});
}

} // namespace r3::record
