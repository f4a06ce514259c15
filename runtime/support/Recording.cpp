// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Manifests: one function writes and one reads each rule of the grammar in the
// header. The reader also checks what the grammar cannot say (fields inside
// the arguments, one digest a chunk, ...), so that whoever uses a recording
// need not.
#include "runtime/support/Recording.h"

#include "runtime/support/Bytes.h"

#include <cstring>
#include <iterator>

namespace r3 {

static constexpr char Magic[8] = {'R', '3', 'R', 'E', 'C', 0, 0, 0};
static constexpr uint32_t Version = 1;
static constexpr uint32_t InArguments = 0xffffffffu;

static constexpr std::string_view TypeNames[] = {
    "bytes", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "pointer"};

std::string_view valueTypeName(ValueType Value) {
  return TypeNames[size_t(Value)];
}

Expected<ValueType> parseValueType(std::string_view Name) {
  for (size_t I = 0; I != std::size(TypeNames); ++I)
    if (TypeNames[I] == Name)
      return ValueType(I);
  return fail(ErrorCode::Damaged, "unknown type '%.*s'", int(Name.size()),
              Name.data());
}

uint64_t Recording::footprint() const {
  uint64_t Sum = 0;
  for (const RecordedAllocation &Allocation : Allocations)
    Sum += Allocation.Size;
  return Sum;
}

uint64_t Recording::chunkSize(uint64_t Size, uint64_t Index) {
  // Division first: Index * ChunkBytes could overflow.
  if (Index > Size / ChunkBytes)
    return 0;
  uint64_t Rest = Size - Index * ChunkBytes;
  return Rest < ChunkBytes ? Rest : ChunkBytes;
}

static uint64_t chunkCount(uint64_t Size) {
  return Size / ChunkBytes + (Size % ChunkBytes != 0);
}

//===-- Writing -----------------------------------------------------------===//

static void write(ByteWriter &Out, const Dim3 &Value) {
  for (uint32_t Part : Value)
    Out.u32(Part);
}

static void write(ByteWriter &Out, const LaunchConfig &Launch) {
  write(Out, Launch.Grid);
  write(Out, Launch.Block);
  write(Out, Launch.Cluster);
  Out.u32(Launch.DynamicShared);
  Out.u32(Launch.StaticShared);
  Out.u8(Launch.Cooperative);
  Out.u8(Launch.CacheConfig);
  Out.u32(Launch.MaxDynamicShared);
  Out.u32(Launch.Carveout);
}

static void write(ByteWriter &Out, const DeviceIdentity &Device) {
  for (const std::string *Text : {&Device.Backend, &Device.Name, &Device.Arch,
                                  &Device.Key, &Device.Driver, &Device.Tools})
    Out.string(*Text);
  Out.u32(Device.Multiprocessors);
  Out.u64(Device.L2Bytes);
  Out.u64(Device.MemoryBytes);
}

static void write(ByteWriter &Out, const ArgumentField &Field) {
  Out.u32(Field.Offset);
  Out.u32(Field.Size);
  Out.u8(uint8_t(Field.Type));
  Out.string(Field.Name);
}

static void write(ByteWriter &Out, const RecordedAllocation &Allocation) {
  Out.u64(Allocation.Address);
  Out.u64(Allocation.Size);
  Out.u8(uint8_t(Allocation.Kind));
  Out.string(Allocation.Global);
  Out.u64(Allocation.Before.size());
  for (const Digest &Chunk : Allocation.Before)
    Out.digest(Chunk);
  Out.u64(Allocation.After.size());
  for (const ChangedChunk &Chunk : Allocation.After) {
    Out.u64(Chunk.Chunk);
    Out.digest(Chunk.After);
  }
}

static void write(ByteWriter &Out, const SymbolicWord &Word) {
  Out.u32(Word.Allocation);
  Out.u64(Word.Offset);
  Out.u8(uint8_t(Word.What));
  Out.string(Word.Name);
  Out.u64(Word.Addend);
}

template <typename T>
static void write(ByteWriter &Out, const std::vector<T> &List) {
  Out.u64(List.size());
  for (const T &Item : List)
    write(Out, Item);
}

std::vector<uint8_t> Recording::serialize() const {
  ByteWriter Out;
  Out.raw({reinterpret_cast<const uint8_t *>(Magic), sizeof(Magic)});
  Out.u32(Version);
  Out.u32(0);
  for (const std::string *Text : {&Key, &Name, &Display, &Home, &Arch, &Unit})
    Out.string(*Text);
  Out.digest(Module);
  Out.digest(Image);
  Out.string(Level);
  write(Out, Launch);
  write(Out, Device);
  Out.bytes(Arguments);
  write(Out, Fields);
  Out.string(Class);
  write(Out, Allocations);
  write(Out, Symbolic);
  Out.u64(DurationNs);
  Out.u64(Ordinal);
  Out.u64(LaunchesSeen);
  Out.u32(Rank);
  Out.string(Reason);
  Out.string(Detail);
  Out.u64(TakenAt);
  Out.u64(checksum(Out.data()));
  return Out.take();
}

Digest Recording::idOf(std::span<const uint8_t> Serialized) {
  return contentDigest(Serialized);
}

//===-- Reading -----------------------------------------------------------===//

/// A u8 that is at most Last.
template <typename T>
static void readEnum(ByteReader &In, T &Value, T Last, const char *What) {
  uint8_t Number = In.u8();
  if (Number > uint8_t(Last))
    In.reject(format("%s %u does not exist", What, Number));
  else
    Value = T(Number);
}

static void read(ByteReader &In, Dim3 &Value) {
  for (uint32_t &Part : Value)
    Part = In.u32();
}

static void read(ByteReader &In, LaunchConfig &Launch) {
  read(In, Launch.Grid);
  read(In, Launch.Block);
  read(In, Launch.Cluster);
  Launch.DynamicShared = In.u32();
  Launch.StaticShared = In.u32();
  uint8_t Cooperative = In.u8();
  if (Cooperative > 1)
    In.reject("a flag is neither 0 nor 1");
  Launch.Cooperative = Cooperative;
  Launch.CacheConfig = In.u8();
  Launch.MaxDynamicShared = In.u32();
  Launch.Carveout = In.u32();
}

static void read(ByteReader &In, DeviceIdentity &Device) {
  for (std::string *Text : {&Device.Backend, &Device.Name, &Device.Arch,
                            &Device.Key, &Device.Driver, &Device.Tools})
    *Text = In.string();
  Device.Multiprocessors = In.u32();
  Device.L2Bytes = In.u64();
  Device.MemoryBytes = In.u64();
}

static void read(ByteReader &In, ArgumentField &Field) {
  Field.Offset = In.u32();
  Field.Size = In.u32();
  readEnum(In, Field.Type, ValueType::Pointer, "field type");
  Field.Name = In.string();
}

static void read(ByteReader &In, RecordedAllocation &Allocation) {
  Allocation.Address = In.u64();
  Allocation.Size = In.u64();
  readEnum(In, Allocation.Kind, MemoryKind::Global, "memory kind");
  Allocation.Global = In.string();
  if (Allocation.Size > UINT64_MAX - Allocation.Address)
    In.reject("an allocation ends beyond all addresses");
  size_t Before = In.count(16);
  for (size_t I = 0; I != Before && !In.failed(); ++I)
    Allocation.Before.push_back(In.digest());
  // Records that were given up have no contents.
  if (Before && Before != chunkCount(Allocation.Size))
    In.reject(format("%zu chunks for %llu bytes", Before,
                     (unsigned long long)Allocation.Size));
  size_t After = In.count(24);
  for (size_t I = 0; I != After && !In.failed(); ++I) {
    ChangedChunk Chunk;
    Chunk.Chunk = In.u64();
    Chunk.After = In.digest();
    if (Chunk.Chunk >= Before ||
        (I && Chunk.Chunk <= Allocation.After.back().Chunk))
      In.reject("changed chunks are not in order");
    Allocation.After.push_back(Chunk);
  }
}

static void read(ByteReader &In, SymbolicWord &Word) {
  Word.Allocation = In.u32();
  Word.Offset = In.u64();
  readEnum(In, Word.What, SymbolicWord::Kind::VTable, "kind of word");
  Word.Name = In.string();
  Word.Addend = In.u64();
}

template <typename T>
static void read(ByteReader &In, std::vector<T> &List, size_t MinBytes) {
  size_t Count = In.count(MinBytes);
  for (size_t I = 0; I != Count && !In.failed(); ++I)
    read(In, List.emplace_back());
}

static bool isInside(uint64_t Offset, uint64_t Size, uint64_t Whole) {
  return Offset <= Whole && Size <= Whole - Offset;
}

/// What relates parts of a recording to each other.
static void check(ByteReader &In, const Recording &R) {
  for (const ArgumentField &Field : R.Fields)
    if (!isInside(Field.Offset, Field.Size, R.Arguments.size()))
      In.reject("a field lies outside the arguments");
  for (const RecordedAllocation &Allocation : R.Allocations)
    if (Allocation.Before.empty() && Allocation.Size && R.Reason.empty())
      In.reject("an allocation has no contents");
  for (const SymbolicWord &Word : R.Symbolic) {
    uint64_t Whole = R.Arguments.size();
    if (Word.Allocation != InArguments)
      Whole = Word.Allocation < R.Allocations.size()
                  ? R.Allocations[Word.Allocation].Size
                  : 0;
    if (!isInside(Word.Offset, 8, Whole))
      In.reject("a symbolic word lies outside its memory");
  }
}

static void readHead(ByteReader &In) {
  std::span<const uint8_t> Start = In.raw(sizeof(Magic));
  if (!In.failed() && std::memcmp(Start.data(), Magic, sizeof(Magic)))
    In.reject("not a recording");
  uint32_t Found = In.u32();
  if (!In.failed() && Found != Version)
    In.reject(format("version %u, this r3 reads %u", Found, Version));
  if (In.u32())
    In.reject("reserved bytes are not zero");
}

Expected<Recording> Recording::parse(std::span<const uint8_t> Bytes,
                                     const std::string &FileName) {
  ByteReader In(Bytes, FileName);
  Recording R;
  readHead(In);
  for (std::string *Text :
       {&R.Key, &R.Name, &R.Display, &R.Home, &R.Arch, &R.Unit})
    *Text = In.string();
  R.Module = In.digest();
  R.Image = In.digest();
  R.Level = In.string();
  read(In, R.Launch);
  read(In, R.Device);
  R.Arguments = In.bytes();
  read(In, R.Fields, 17);
  R.Class = In.string();
  read(In, R.Allocations, 41);
  read(In, R.Symbolic, 29);
  R.DurationNs = In.u64();
  R.Ordinal = In.u64();
  R.LaunchesSeen = In.u64();
  R.Rank = In.u32();
  R.Reason = In.string();
  R.Detail = In.string();
  R.TakenAt = In.u64();
  size_t Covered = In.offset();
  uint64_t Sum = In.u64();
  if (!In.failed() && Sum != checksum(Bytes.first(Covered)))
    In.reject("checksum differs");
  if (!In.failed())
    check(In, R);
  if (Error E = In.finish())
    return E;
  return R;
}

} // namespace r3
