// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything read here may come from elsewhere: contents are named by digest
// and checked.
#include "wrapper/replay/KernelSet.h"

#include "wrapper/trust/Values.h"

#include "runtime/support/Files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace r3::replay {

Expected<ChunkSource::Place> PackSource::find(const Digest &Name,
                                              uint32_t Size) {
  if (Derived)
    if (auto Offset = Derived->offsetOf(Name, Size))
      return derived(*Offset);
  auto Where = Packs.find(Name);
  if (!Where)
    return Where.error();
  if (Where->Size != Size)
    return fail(ErrorCode::Damaged, "chunk %s has %u bytes, %u were recorded",
                Name.hex().c_str(), Where->Size, Size);
  if (Where->Codec)
    return unpack(Name);
  auto File = openPack(Where->File);
  if (!File)
    return File.error();
  return Place{*File, Where->Offset};
}

Expected<uint32_t> PackSource::openPack(uint32_t Index) {
  const auto &Paths = Packs.files();
  if (Index >= Paths.size())
    return fail(ErrorCode::Damaged, "pack %u of %zu", Index, Paths.size());
  Opened.resize(Paths.size(), -1);
  if (Opened[Index] < 0) {
    OwnedFd Fd(open(Paths[Index].c_str(), O_RDONLY | O_CLOEXEC));
    if (!Fd)
      return fail(ErrorCode::NotFound, "%s: %s", Paths[Index].c_str(),
                  std::strerror(errno));
    Opened[Index] = static_cast<int64_t>(Files.size());
    Files.push_back(std::move(Fd));
  }
  return static_cast<uint32_t>(Opened[Index]);
}

Expected<ChunkSource::Place> PackSource::derived(uint64_t Offset) {
  if (DerivedFile < 0) {
    OwnedFd Fd(fcntl(Derived->file(), F_DUPFD_CLOEXEC, 0));
    if (!Fd)
      return fail(ErrorCode::NoSpace, "derived memory: %s",
                  std::strerror(errno));
    DerivedFile = static_cast<int64_t>(Files.size());
    Files.push_back(std::move(Fd));
  }
  return Place{static_cast<uint32_t>(DerivedFile), Offset};
}

Expected<ChunkSource::Place> PackSource::unpack(const Digest &Name) {
  auto Bytes = Packs.read(Name);
  if (!Bytes)
    return Bytes.error();
  if (UnpackedFile < 0) {
    auto File = memoryFile("r3-unpacked", 0);
    if (!File)
      return File.error();
    UnpackedFile = static_cast<int64_t>(Files.size());
    Files.push_back(std::move(*File));
  }
  const uint64_t Offset = UnpackedBytes;
  if (Error E = writeAt(Files[UnpackedFile].get(), *Bytes, Offset))
    return E.in("unpacking recorded memory");
  UnpackedBytes += Bytes->size();
  return Place{static_cast<uint32_t>(UnpackedFile), Offset};
}

namespace {

struct PointerArgument {
  uint64_t Value;
  const ArgumentField *Field;
};

/// Pointer arguments that lead into an allocation.
std::vector<PointerArgument> pointersInto(const RecordedAllocation &A,
                                          const Recording &R,
                                          const std::vector<ArgumentField> &F) {
  std::vector<PointerArgument> Result;
  for (const ArgumentField &Field : F) {
    if (Field.Type != ValueType::Pointer || Field.Size != 8 ||
        R.Arguments.size() < 8 || Field.Offset > R.Arguments.size() - 8)
      continue;
    uint64_t Value;
    std::memcpy(&Value, R.Arguments.data() + Field.Offset, 8);
    if (Value >= A.Address && Value < A.Address + A.Size)
      Result.push_back({Value, &Field});
  }
  return Result;
}

/// The type of all stores that lead into an allocation through arguments;
/// Bytes where they disagree or do not keep to its element grid.
ValueType elementType(const RecordedAllocation &A, const Recording &R,
                      const UnitKernel &K) {
  ValueType Type = ValueType::Bytes;
  bool Found = false;
  for (const PointerArgument &P : pointersInto(A, R, K.Fields)) {
    const auto Index = static_cast<uint32_t>(P.Field - K.Fields.data());
    auto Stored = K.Written.find(Index);
    if (Stored == K.Written.end())
      continue;
    const ValueType T = Stored->second;
    if ((P.Value - A.Address) % trust::elementSize(T) || (Found && T != Type))
      return ValueType::Bytes;
    Type = T;
    Found = true;
  }
  return Type;
}

std::string bufferName(const RecordedAllocation &A, const Recording &R) {
  for (const PointerArgument &P : pointersInto(A, R, R.Fields)) {
    if (P.Value == A.Address)
      return P.Field->Name;
    return format("%s-%llu", P.Field->Name.c_str(),
                  static_cast<unsigned long long>(P.Value - A.Address));
  }
  return format("0x%llx", static_cast<unsigned long long>(A.Address));
}

} // namespace

std::vector<trust::Buffer> nameBuffers(const Recording &R, const Unit *U) {
  const UnitKernel *K = U ? U->findKernel(R.Name) : nullptr;
  std::vector<trust::Buffer> Result;
  for (const RecordedAllocation &A : R.Allocations) {
    trust::Buffer B{bufferName(A, R), A.Address, A.Size, ValueType::Bytes};
    if (A.Kind == MemoryKind::Global) {
      B.Name = A.Global;
      if (U)
        for (const UnitGlobal &G : U->Globals)
          if (G.Name == A.Global) {
            B.Name = G.Display.empty() ? G.Name : G.Display;
            B.Type = G.Element;
          }
    } else if (K) {
      B.Type = elementType(A, R, *K);
    }
    Result.push_back(std::move(B));
  }
  return Result;
}

Interval placeOf(const std::string &Name, const Recording &R, size_t Index,
                 const std::string &BufferName) {
  const RecordedAllocation &A = R.Allocations[Index];
  const auto Pointers = pointersInto(A, R, R.Fields);
  for (const PointerArgument &P : Pointers)
    if (BufferName == Name || P.Field->Name == Name) {
      uint64_t End = A.Address + A.Size;
      for (const PointerArgument &Next : Pointers)
        if (Next.Value > P.Value)
          End = std::min(End, Next.Value);
      return {P.Value - A.Address, End - A.Address};
    }
  return {0, BufferName == Name ? A.Size : 0};
}

Error KernelSet::add(const std::string &Path, const DeviceIdentity &Device) {
  auto Bytes = readFile(Path);
  if (!Bytes)
    return Bytes.error();
  auto R = Recording::parse(*Bytes, Path);
  if (!R)
    return R.error();
  if (!R->Reason.empty())
    return fail(ErrorCode::CannotRunHere, "%s is not replayable: %s %s",
                Path.c_str(), R->Reason.c_str(), R->Detail.c_str());
  if (R->Device.Backend != Device.Backend)
    return fail(ErrorCode::Stale,
                "%s was recorded on the %s device, this worker has the %s "
                "device",
                Path.c_str(), R->Device.Backend.c_str(),
                Device.Backend.c_str());
  if (!Loaded.empty()) {
    const Recording &First = Loaded.front().Manifest;
    if (R->Key != First.Key || R->Name != First.Name)
      return fail(ErrorCode::Usage,
                  "recordings of two kernels in one load: %s and %s",
                  First.Name.c_str(), R->Name.c_str());
    if (R->Module != First.Module || R->Image != First.Image ||
        R->Level != First.Level)
      return fail(ErrorCode::Usage,
                  "%s was recorded from another build than the recordings "
                  "before it; load them separately",
                  Path.c_str());
  }
  LoadedRecording L;
  L.Id = Recording::idOf(*Bytes).hex();
  L.Manifest = std::move(*R);
  Loaded.push_back(std::move(L));
  return {};
}

Expected<KernelSet> KernelSet::read(const Store &S,
                                    const std::vector<std::string> &Manifests,
                                    const DeviceIdentity &Device) {
  if (Manifests.empty())
    return fail(ErrorCode::Usage, "no recordings to load");
  KernelSet Set;
  for (const std::string &Path : Manifests)
    if (Error E = Set.add(Path, Device))
      return E;
  std::optional<Unit> &U = Set.TheUnit;
  if (auto Json = readTextFile(S.unitPath(Set.first().Unit))) {
    auto Parsed = Unit::parseJson(*Json);
    if (!Parsed)
      return Parsed.error().in(S.unitPath(Set.first().Unit));
    U = std::move(*Parsed);
  }
  for (LoadedRecording &L : Set.Loaded)
    L.Buffers = nameBuffers(L.Manifest, U ? &*U : nullptr);
  auto Packs = PackSet::open(S.packDirectory());
  if (!Packs)
    return Packs.error();
  Set.Packs = std::move(*Packs);
  return Set;
}

namespace {

void expect(LoadedRecording &L, const PlanLaunch &P) {
  L.Before.clear();
  L.RangeStart.clear();
  for (const PlanRange &Range : P.Ranges) {
    L.RangeStart.push_back(L.Before.size());
    L.Before.insert(L.Before.end(), Range.Before.begin(), Range.Before.end());
  }
  L.After = L.Before;
  for (size_t I = 0; I < L.Manifest.Allocations.size(); ++I)
    for (const ChangedChunk &C : L.Manifest.Allocations[I].After)
      L.After[L.RangeStart[I] + C.Chunk] = C.After;
}

} // namespace

Expected<ReplayPlan> KernelSet::plan(uint64_t Granularity, uint64_t Alignment) {
  std::vector<Recording> Manifests;
  for (const LoadedRecording &L : Loaded)
    Manifests.push_back(L.Manifest);
  Source = std::make_unique<PackSource>(*Packs, Derived.get());
  auto Plan = makePlan(Manifests, Granularity, Alignment, *Source);
  if (!Plan)
    return Plan.error();
  for (size_t I = 0; I < Loaded.size(); ++I)
    expect(Loaded[I], Plan->Launches[I]);
  return Plan;
}

KernelSet KernelSet::derive(std::vector<Recording> Launches,
                            std::shared_ptr<DerivedChunks> Chunks) const {
  KernelSet Set;
  Set.TheUnit = TheUnit;
  Set.Packs = Packs;
  Set.Derived = std::move(Chunks);
  for (Recording &R : Launches) {
    LoadedRecording L;
    L.Id = Recording::idOf(R.serialize()).hex();
    L.Manifest = std::move(R);
    for (RecordedAllocation &A : L.Manifest.Allocations)
      A.After.clear();
    L.Buffers = nameBuffers(L.Manifest, TheUnit ? &*TheUnit : nullptr);
    Set.Loaded.push_back(std::move(L));
  }
  (void)Set.setUnordered(Unordered); // the names are these recordings' own
  return Set;
}

namespace {

constexpr std::string_view Sorted = ", sorted";

} // namespace

Error KernelSet::setUnordered(std::map<std::string, uint64_t> Sizes) {
  Unordered = std::move(Sizes);
  for (const auto &[Name, Size] : Unordered) {
    bool Found = false;
    std::string Names;
    for (LoadedRecording &L : Loaded)
      for (size_t I = 0; I < L.Buffers.size(); ++I) {
        if (&L == &Loaded.front())
          Names += (Names.empty() ? "" : ", ") + L.Buffers[I].Name;
        const Interval Where = placeOf(Name, L.Manifest, I, L.Buffers[I].Name);
        if (!Size || Size > Where.size())
          continue;
        Found = true;
        L.Unordered.push_back({I, Where, Size, {}});
      }
    if (!Found)
      return fail(ErrorCode::Usage,
                  "no buffer '%s' of at least one record of %llu bytes; there "
                  "are %s",
                  Name.c_str(), static_cast<unsigned long long>(Size),
                  Names.c_str());
  }
  // Their elements are told in another order from here on.
  for (LoadedRecording &L : Loaded)
    for (const trust::UnorderedRecords &Which : L.Unordered)
      if (std::string &Name = L.Buffers[Which.Buffer].Name;
          !Name.ends_with(Sorted))
        Name += Sorted;
  return {};
}

void KernelSet::setWritten(size_t Index, const Footprint &Original) {
  for (trust::UnorderedRecords &Which : Loaded[Index].Unordered)
    if (Which.Buffer < Original.Ranges.size())
      Which.Written = Original.Ranges[Which.Buffer].Written;
}

std::string KernelSet::unorderedText() const {
  std::string Text;
  for (const auto &[Name, Size] : Unordered)
    Text += format("%sthe records of %llu bytes of %s may come in any order",
                   Text.empty() ? "" : "; ",
                   static_cast<unsigned long long>(Size), Name.c_str());
  return Text;
}

void KernelSet::setOutcome(size_t Index, const std::vector<Digest> &After) {
  LoadedRecording &L = Loaded[Index];
  L.After = After;
  for (size_t I = 0; I < L.Manifest.Allocations.size(); ++I) {
    RecordedAllocation &A = L.Manifest.Allocations[I];
    A.After.clear();
    for (uint64_t Chunk = 0; Chunk < A.Before.size(); ++Chunk)
      if (const Digest &Now = After[L.RangeStart[I] + Chunk];
          Now != A.Before[Chunk])
        A.After.push_back({Chunk, Now});
  }
}

std::vector<int> KernelSet::packFds() const {
  std::vector<int> Result;
  if (Source)
    for (const OwnedFd &Fd : Source->files())
      Result.push_back(Fd.get());
  return Result;
}

Expected<std::vector<uint8_t>> KernelSet::bitcode(const Store &S) const {
  auto Bytes = readFile(S.modulePath(first().Module));
  if (Bytes && contentDigest(*Bytes) != first().Module)
    return fail(ErrorCode::Damaged, "%s: its content is not what its name says",
                S.modulePath(first().Module).c_str());
  return Bytes;
}

Expected<std::vector<uint8_t>> KernelSet::image(const Store &S) const {
  if (first().Image == Digest())
    return fail(ErrorCode::NotFound,
                "the recording names no device code of the program");
  auto Bytes = readFile(S.imagePath(first().Image));
  if (Bytes && contentDigest(*Bytes) != first().Image)
    return fail(ErrorCode::Damaged, "%s: its content is not what its name says",
                S.imagePath(first().Image).c_str());
  return Bytes;
}

} // namespace r3::replay
