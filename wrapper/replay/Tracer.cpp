// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Tracer.h"

#include "runtime/support/TraceAbi.h"

#include <algorithm>

namespace r3::replay {

namespace {

constexpr uint64_t WaitMs = 120000;
constexpr uint64_t BufferBytes = 16 << 20;
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
    Bits += roundUp(P.Size, 32);
  }
  auto Host = D.allocateHost(BufferBytes);
  if (!Host)
    return Host.error();
  Buffer = *Host;

  const uint64_t TableBytes = Table.size() * sizeof(trace::Range);
  auto Ranges = take(std::max<uint64_t>(TableBytes, 1));
  auto Read = take(std::max<uint64_t>(Bits / 8, 1));
  auto Written = take(std::max<uint64_t>(Bits / 8, 1));
  for (auto *Taken : {&Ranges, &Read, &Written})
    if (!*Taken)
      return Taken->error().in("bitmaps of the traced launch");
  ReadBits = *Read;
  WrittenBits = *Written;

  trace::State S = {};
  S.Ranges = *Ranges;
  S.Count = Table.size();
  S.ReadBits = ReadBits;
  S.WrittenBits = WrittenBits;
  for (Address Bitmap : {ReadBits, WrittenBits})
    if (Error E = D.fill(Bitmap, 0, std::max<uint64_t>(Bits / 8, 1), Stream))
      return E;
  if (!Table.empty())
    if (Error E = D.copyToDevice(*Ranges, Table.data(), TableBytes, Stream))
      return E;
  if (Error E = D.copyToDevice(State, &S, sizeof S, Stream))
    return E;
  return D.synchronize(Stream, WaitMs);
}

Error Tracer::readBits(Address Bitmap, const Piece &P, IntervalSet &Into) {
  const uint64_t Bytes = roundUp(P.Size, 32) / 8;
  for (uint64_t At = 0; At < Bytes; At += BufferBytes) {
    const uint64_t Size = std::min(Bytes - At, BufferBytes);
    if (Error E = D.copyToHost(Buffer, Bitmap + P.Bit / 8 + At, Size, Stream))
      return E;
    if (Error E = D.synchronize(Stream, WaitMs))
      return E;
    Into.appendBits({static_cast<const uint32_t *>(Buffer), Size / 4}, At * 8);
    if (Into.intervals().size() > MostIntervals)
      return fail(ErrorCode::NoSpace,
                  "the accesses are too scattered: more than %zu stretches",
                  MostIntervals);
  }
  return {};
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
  }
  trace::State S;
  if (Error E = D.copyToHost(&S, State, sizeof S, Stream))
    return E;
  if (Error E = D.synchronize(Stream, WaitMs))
    return E;
  OutsideAccess &O = Result.Outside;
  O.Count = S.Outside;
  O.Address = S.First.Address;
  O.Size = S.First.Size;
  O.Kind = S.First.Kind;
  O.Site = S.First.Site;
  std::copy(std::begin(S.First.Block), std::end(S.First.Block), O.Block);
  std::copy(std::begin(S.First.Thread), std::end(S.First.Thread), O.Thread);
  return Result;
}

} // namespace r3::replay
