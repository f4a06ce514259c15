// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Tracer.h"

#include "runtime/support/TraceAbi.h"

#include <algorithm>

namespace r3::replay {

namespace {

constexpr uint64_t WaitMs = 120000;
constexpr uint64_t BufferBytes = 16 << 20; // half of it for leaf hashes
/// Of a bitmap, looked at together.
constexpr uint64_t BlockLeaves = BufferBytes / 2 / sizeof(LeafHash);
/// For what blocks write of their shared memory; more blocks are not watched.
constexpr uint64_t MostSharedBytes = 64 << 20;
constexpr uint64_t LeafBits = LeafBytes * 8;
/// Beyond this a footprint is of no use: scattered bytes all over.
constexpr size_t MostIntervals = 4 << 20;

uint64_t roundUp(uint64_t Value, uint64_t To) {
  return (Value + To - 1) / To * To;
}

} // namespace

Tracer::~Tracer() {
  for (Address Where : Taken)
    (void)D.free(Where);
  if (Buffer)
    (void)D.freeHost(Buffer);
}

Expected<Address> Tracer::take(uint64_t Size) {
  auto Where = D.allocate(roundUp(Size, 256));
  if (Where)
    Taken.push_back(*Where);
  return Where;
}

Error Tracer::begin(const PlanLaunch &L,
                    const std::vector<std::optional<Address>> &Bases,
                    DeviceModule &Code) {
  auto Found = Code.global(trace::TraceState);
  if (!Found || Found->Size < sizeof(trace::State))
    return fail(ErrorCode::Failed, "the code was not built for tracing");
  State = Found->Begin;
  RangeCount = L.Ranges.size();
  for (size_t I = 0; I < RangeCount; ++I)
    if (L.Ranges[I].What != PlanRange::Kind::Guard && Bases[I])
      Pieces.push_back({I, *Bases[I], L.Ranges[I].Size, 0});
  std::sort(Pieces.begin(), Pieces.end(),
            [](const Piece &A, const Piece &B) { return A.Base < B.Base; });
  uint64_t Bits = 0;
  std::vector<trace::Range> Table;
  for (Piece &P : Pieces) {
    P.Bit = Bits;
    Table.push_back({P.Base, P.Base + P.Size, Bits});
    Bits += roundUp(P.Size, LeafBits);
  }
  auto Host = D.allocateHost(BufferBytes);
  if (!Host)
    return Host.error();
  Buffer = *Host;

  trace::State S = {};
  if (Error E = D.copyToHost(&S, State, sizeof S, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  S = {.StaticShared = S.StaticShared};
  S.SharedWords = roundUp(S.StaticShared + L.Config.DynamicShared, 32) / 32;
  const uint64_t Blocks =
      uint64_t(L.Config.Grid[0]) * L.Config.Grid[1] * L.Config.Grid[2];
  if (S.SharedWords)
    S.SharedBlocks = std::min(Blocks, MostSharedBytes / (S.SharedWords * 4));
  const uint64_t SharedBytes = S.SharedBlocks * S.SharedWords * 4;

  const uint64_t BitmapBytes = std::max<uint64_t>(Bits / 8, 1);
  const uint64_t TableBytes = Table.size() * sizeof(trace::Range);
  auto Ranges = take(std::max<uint64_t>(TableBytes, 1));
  auto Read = take(BitmapBytes);
  auto Written = take(BitmapBytes);
  auto Inherited = take(BitmapBytes);
  auto Shared = take(std::max<uint64_t>(SharedBytes, 1));
  for (auto *Taken : {&Ranges, &Read, &Written, &Inherited, &Shared})
    if (!*Taken)
      return Taken->error().in("bitmaps of the traced launch");
  ReadBits = *Read;
  WrittenBits = *Written;
  InheritedBits = *Inherited;

  S.Ranges = *Ranges;
  S.Count = Table.size();
  S.ReadBits = ReadBits;
  S.WrittenBits = WrittenBits;
  S.InheritedBits = InheritedBits;
  S.SharedBits = *Shared;
  for (Address Bitmap : {ReadBits, WrittenBits, InheritedBits})
    if (Error E = D.fill(Bitmap, 0, BitmapBytes, Stream))
      return E;
  if (Error E = D.fill(*Shared, 0, std::max<uint64_t>(SharedBytes, 1), Stream))
    return E;
  if (!Table.empty())
    if (Error E = D.copyToDevice(*Ranges, Table.data(), TableBytes, Stream))
      return E;
  if (Error E = D.copyToDevice(State, &S, sizeof S, Stream))
    return E;
  return D.synchronize(Stream, WaitMs);
}

/// Most of a bitmap is empty or full; only what is neither is copied.
Error Tracer::readBits(Address Bitmap, const Piece &P, IntervalSet &Into) {
  const std::vector<uint8_t> None(LeafBytes, 0), All(LeafBytes, 0xFF);
  const LeafHash Empty = leafHash(None), Full = leafHash(All);
  const auto *Hashes = static_cast<const LeafHash *>(Buffer);
  const Address Begin = Bitmap + P.Bit / 8;
  const uint64_t Leaves = roundUp(P.Size, LeafBits) / LeafBits;
  for (uint64_t Block = 0; Block < Leaves; Block += BlockLeaves) {
    const uint64_t Count = std::min(BlockLeaves, Leaves - Block);
    if (Error E = D.hashLeaves(Begin + Block * LeafBytes, Count * LeafBytes,
                               static_cast<LeafHash *>(Buffer), Stream))
      return E;
    if (Error E = D.synchronize(Stream, WaitMs))
      return E;
    for (uint64_t I = 0; I < Count;) {
      const uint64_t Bit = (Block + I) * LeafBits;
      if (Hashes[I] == Empty || Hashes[I] == Full) {
        if (Hashes[I] == Full)
          Into.append({Bit, Bit + LeafBits});
        ++I;
        continue;
      }
      uint64_t Next = I + 1;
      while (Next < Count && Next - I < BufferBytes / 2 / LeafBytes &&
             Hashes[Next] != Empty && Hashes[Next] != Full)
        ++Next;
      if (Error E = copyBits(Begin + (Block + I) * LeafBytes,
                             (Next - I) * LeafBytes, Bit, Into))
        return E;
      I = Next;
    }
  }
  return {};
}

Error Tracer::copyBits(Address From, uint64_t Bytes, uint64_t Bit,
                       IntervalSet &Into) {
  auto *Words = reinterpret_cast<uint32_t *>(static_cast<uint8_t *>(Buffer) +
                                             BufferBytes / 2);
  if (Error E = D.copyToHost(Words, From, Bytes, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  Into.appendBits({Words, Bytes / 4}, Bit);
  if (Into.intervals().size() > MostIntervals)
    return fail(ErrorCode::NoSpace,
                "the accesses are too scattered: more than %zu stretches",
                MostIntervals);
  return {};
}

static void note(uint64_t Count, const trace::Report &R, NotedAccess &A) {
  A.Count = Count;
  A.Address = R.Address;
  A.Size = R.Size;
  A.Kind = R.Kind;
  A.Site = R.Site;
  std::copy(std::begin(R.Block), std::end(R.Block), A.Block);
  std::copy(std::begin(R.Thread), std::end(R.Thread), A.Thread);
}

Expected<Footprint> Tracer::end() {
  Footprint Result;
  Result.Ranges.resize(RangeCount);
  for (const Piece &P : Pieces) {
    RangeFootprint &R = Result.Ranges[P.Range];
    if (Error E = readBits(ReadBits, P, R.Read))
      return E;
    if (Error E = readBits(WrittenBits, P, R.Written))
      return E;
    if (Error E = readBits(InheritedBits, P, R.Inherited))
      return E;
  }
  trace::State S;
  if (Error E = D.copyToHost(&S, State, sizeof S, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  note(S.Outside, S.First, Result.Outside);
  note(S.Unwritten, S.FirstUnwritten, Result.Unwritten);
  return Result;
}

} // namespace r3::replay
