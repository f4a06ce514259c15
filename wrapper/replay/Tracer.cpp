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
/// Nothing, everything, all floats, all doubles.
constexpr uint32_t UniformWords[] = {0, ~0u, WordUses::Floats,
                                     WordUses::Doubles};

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
  std::vector<trace::Range> Rows;
  for (Piece &P : Pieces) {
    P.Bit = Bits;
    Rows.push_back({P.Base, P.Base + P.Size, Bits, 0, 0});
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
  const uint64_t SharedBytes =
      std::max<uint64_t>(S.SharedBlocks * S.SharedWords * 4, 1);

  const uint64_t TableBytes = Rows.size() * sizeof(trace::Range);
  const uint64_t BitmapBytes = std::max<uint64_t>(Bits / 8, 1);
  Address Shared = 0;
  for (auto [Where, Size] :
       {std::pair{&Table, std::max<uint64_t>(TableBytes, 1)},
        {&ReadBits, BitmapBytes},
        {&WrittenBits, BitmapBytes},
        {&InheritedBits, BitmapBytes},
        {&UseBits, BitmapBytes},
        {&Shared, SharedBytes}}) {
    auto Got = take(Size);
    if (!Got)
      return Got.error().in("bitmaps of the traced launch");
    *Where = *Got;
    if (Where != &Table)
      if (Error E = D.fill(*Where, 0, Size, Stream))
        return E;
  }
  S.Ranges = Table;
  S.Count = Rows.size();
  S.ReadBits = ReadBits;
  S.WrittenBits = WrittenBits;
  S.InheritedBits = InheritedBits;
  S.UseBits = UseBits;
  S.SharedBits = Shared;
  if (!Rows.empty())
    if (Error E = D.copyToDevice(Table, Rows.data(), TableBytes, Stream))
      return E;
  if (Error E = D.copyToDevice(State, &S, sizeof S, Stream))
    return E;
  return D.synchronize(Stream, WaitMs);
}

/// Most of a bitmap repeats one word; only what does not is copied.
Error Tracer::visitBits(Address Bitmap, const Piece &P, const Visitor &Visit) {
  struct Uniform {
    uint32_t Word;
    LeafHash Hash;
  };
  static const std::vector<Uniform> Known = [] {
    std::vector<Uniform> List;
    for (uint32_t Word : UniformWords) {
      const std::vector<uint32_t> Leaf(LeafBytes / 4, Word);
      List.push_back(
          {Word, leafHash({reinterpret_cast<const uint8_t *>(Leaf.data()),
                           LeafBytes})});
    }
    return List;
  }();
  const auto *Hashes = static_cast<const LeafHash *>(Buffer);
  auto uniform = [&](uint64_t Leaf) {
    return std::find_if(Known.begin(), Known.end(), [&](const Uniform &U) {
      return U.Hash == Hashes[Leaf];
    });
  };
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
      if (auto U = uniform(I); U != Known.end()) {
        if (Error E = Visit({&U->Word, 1}, Bit, LeafBits))
          return E;
        ++I;
        continue;
      }
      uint64_t Next = I + 1;
      while (Next < Count && Next - I < BufferBytes / 2 / LeafBytes &&
             uniform(Next) == Known.end())
        ++Next;
      if (Error E = copyBits(Begin + (Block + I) * LeafBytes,
                             (Next - I) * LeafBytes, Bit, Visit))
        return E;
      I = Next;
    }
  }
  return {};
}

Error Tracer::copyBits(Address From, uint64_t Bytes, uint64_t Bit,
                       const Visitor &Visit) {
  auto *Words = reinterpret_cast<uint32_t *>(static_cast<uint8_t *>(Buffer) +
                                             BufferBytes / 2);
  if (Error E = D.copyToHost(Words, From, Bytes, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  return Visit({Words, Bytes / 4}, Bit, Bytes * 8);
}

Error Tracer::readBits(Address Bitmap, const Piece &P, IntervalSet &Into) {
  return visitBits(
      Bitmap, P,
      [&](std::span<const uint32_t> Words, uint64_t Bit, uint64_t Bits) {
        if (Words.size() == 1 && Words[0] == ~0u)
          Into.append({Bit, Bit + Bits});
        else if (Words.size() > 1)
          Into.appendBits(Words, Bit);
        else if (Words[0]) // repeats something else
          Into.appendBits(std::vector<uint32_t>(Bits / 32, Words[0]), Bit);
        if (Into.intervals().size() <= MostIntervals)
          return Error();
        return fail(ErrorCode::NoSpace,
                    "the accesses are too scattered: more than %zu stretches",
                    MostIntervals);
      });
}

/// Words are few or most of a range; scattered ones are given up.
Error Tracer::readUses(const Piece &P, RangeFootprint &Into) {
  WordUses Uses(Into.Float, Into.Double);
  Error E = visitBits(
      UseBits, P,
      [&](std::span<const uint32_t> Words, uint64_t Bit, uint64_t Bits) {
        Uses.add(Words, Bit, Bits);
        return Error();
      });
  if (Into.Float.intervals().size() + Into.Double.intervals().size() >
      MostIntervals)
    Into.Float = Into.Double = {};
  return E;
}

Error Tracer::readAlignments(Footprint &Into) {
  std::vector<trace::Range> Rows(Pieces.size());
  if (Rows.empty())
    return {};
  if (Error E = D.copyToHost(Rows.data(), Table,
                             Rows.size() * sizeof(trace::Range), Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  for (size_t I = 0; I < Rows.size(); ++I)
    Into.Ranges[Pieces[I].Range].Alignment = 1ull << (Rows[I].Alignment & 63);
  return {};
}

static void note(uint64_t Count, const trace::Report &R, NotedAccess &A) {
  A.Count = Count;
  A.Address = R.Address;
  A.Size = R.Size;
  A.Kind = R.Kind;
  A.Alignment = R.Alignment;
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
    if (Error E = readUses(P, R))
      return E;
  }
  if (Error E = readAlignments(Result))
    return E;
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
