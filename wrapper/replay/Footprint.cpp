// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/Footprint.h"

#include "runtime/support/TraceAbi.h"

#include <algorithm>

namespace r3::replay {

uint64_t Footprint::readBytes() const {
  uint64_t Sum = 0;
  for (const RangeFootprint &R : Ranges)
    Sum += R.Read.bytes();
  return Sum;
}

uint64_t Footprint::writtenBytes() const {
  uint64_t Sum = 0;
  for (const RangeFootprint &R : Ranges)
    Sum += R.Written.bytes();
  return Sum;
}

std::optional<ForeignRead> foreignRead(const Footprint &Variant,
                                       const Footprint &Original) {
  for (size_t R = 0; R < Variant.Ranges.size(); ++R) {
    const IntervalSet Foreign =
        Variant.Ranges[R].Inherited.minus(Original.Ranges[R].Read);
    if (!Foreign.empty())
      return ForeignRead{R, Foreign.intervals().front().Begin, Foreign.bytes()};
  }
  return std::nullopt;
}

static void write(const NotedAccess &A, ByteWriter &Out) {
  Out.u64(A.Count);
  Out.u64(A.Address);
  Out.u64(A.Size);
  Out.u32(A.Kind);
  Out.u32(A.Alignment);
  Out.u32(A.Site);
  for (unsigned I = 0; I < 3; ++I) {
    Out.u32(A.Block[I]);
    Out.u32(A.Thread[I]);
  }
}

static void read(NotedAccess &A, ByteReader &In) {
  A.Count = In.u64();
  A.Address = In.u64();
  A.Size = In.u64();
  A.Kind = In.u32();
  A.Alignment = In.u32();
  A.Site = In.u32();
  for (unsigned I = 0; I < 3; ++I) {
    A.Block[I] = In.u32();
    A.Thread[I] = In.u32();
  }
}

void Footprint::write(ByteWriter &Out) const {
  replay::write(Outside, Out);
  replay::write(Unwritten, Out);
  Out.u64(Ranges.size());
  for (const RangeFootprint &R : Ranges) {
    for (const IntervalSet *Set :
         {&R.Read, &R.Written, &R.Inherited, &R.Float, &R.Double})
      Set->write(Out);
    Out.u64(R.Alignment);
  }
}

Footprint Footprint::read(ByteReader &In) {
  Footprint F;
  replay::read(F.Outside, In);
  replay::read(F.Unwritten, In);
  F.Ranges.resize(In.count(/*MinBytes=*/48));
  for (RangeFootprint &R : F.Ranges) {
    for (IntervalSet *Set :
         {&R.Read, &R.Written, &R.Inherited, &R.Float, &R.Double})
      *Set = IntervalSet::read(In);
    R.Alignment = In.u64();
  }
  return F;
}

MissingWrites missingWrites(const Footprint &Original, const Footprint &Other) {
  MissingWrites Found;
  for (size_t R = 0; R < Original.Ranges.size(); ++R) {
    IntervalSet Left = Original.Ranges[R].Written;
    if (R < Other.Ranges.size())
      Left = Left.minus(Other.Ranges[R].Written);
    if (!Left.bytes())
      continue;
    if (!Found.Bytes) {
      Found.Range = R;
      Found.Begin = Left.intervals().front().Begin;
    }
    Found.Bytes += Left.bytes();
  }
  return Found;
}

void WordUses::add(std::span<const uint32_t> Words, uint64_t Bit,
                   uint64_t Bits) {
  const bool Repeats = Words.size() * 32 < Bits;
  if (Repeats && Words[0] == Floats)
    return Float.append({Bit, Bit + Bits});
  if (Repeats && Words[0] == Doubles)
    return Double.append({Bit, Bit + Bits});
  for (uint64_t At = 0; At < Bits / 32; ++At)
    if (const uint32_t Word = Words[Repeats ? 0 : At])
      addWord(Word, Bit + At * 32);
}

void WordUses::addWord(uint32_t Word, uint64_t Bit) {
  for (uint64_t At = Bit; Word; Word >>= 4, At += 4) {
    const uint32_t Use = Word & 15;
    if (Use == trace::AsFloat)
      Float.append({At, At + 4});
    else if (Use == trace::AsDouble)
      Half = At;
    else if (Use == trace::AsRestOfDouble && Half + 4 == At)
      Double.append({Half, At + 4});
  }
}

/// Adds an interval to the rows of the last piece, where it continues them.
static void addPiece(std::vector<PoisonPiece> &List, uint32_t Range,
                     const Interval &I) {
  if (!List.empty()) {
    PoisonPiece &Last = List.back();
    const uint64_t Step = I.Begin - (Last.Begin + Last.Pitch * (Last.Rows - 1));
    if (Last.Range == Range && Last.Width == I.size() &&
        (Last.Rows == 1 || Last.Pitch == Step)) {
      Last.Pitch = Step;
      ++Last.Rows;
      return;
    }
  }
  List.push_back({Range, I.Begin, I.size()});
}

Poison::Poison(const Footprint &F) {
  for (size_t R = 0; R < F.Ranges.size(); ++R) {
    const IntervalSet Unread = F.Ranges[R].Written.minus(F.Ranges[R].Read);
    for (const Interval &I : Unread.intervals())
      addPiece(List, static_cast<uint32_t>(R), I);
  }
  if (List.size() > Pieces) {
    std::nth_element(List.begin(), List.begin() + Pieces, List.end(),
                     [](const PoisonPiece &A, const PoisonPiece &B) {
                       return A.bytes() > B.bytes();
                     });
    for (size_t I = Pieces; I < List.size(); ++I)
      LeftBytes += List[I].bytes();
    List.resize(Pieces);
  }
  for (const PoisonPiece &P : List)
    Bytes += P.bytes();
}

std::vector<uint8_t> Poison::serialize() const {
  ByteWriter Out;
  Out.u64(List.size());
  for (const PoisonPiece &P : List) {
    Out.u32(P.Range);
    for (uint64_t Word : {P.Begin, P.Width, P.Pitch, P.Rows})
      Out.u64(Word);
  }
  return Out.take();
}

Expected<Poison> Poison::parse(std::span<const uint8_t> Blob) {
  constexpr uint64_t Most = 1ull << 57;
  ByteReader In(Blob, "poison");
  Poison P;
  P.List.resize(In.count(/*MinBytes=*/36));
  for (PoisonPiece &Piece : P.List) {
    Piece.Range = In.u32();
    for (uint64_t *Word :
         {&Piece.Begin, &Piece.Width, &Piece.Pitch, &Piece.Rows})
      *Word = In.u64();
    const bool Overflows =
        Piece.Begin > Most || Piece.Width > Most || !Piece.Width ||
        !Piece.Rows || Piece.Pitch > Most ||
        (Piece.Rows > 1 &&
         (Piece.Pitch < Piece.Width || Piece.Rows > Most / Piece.Pitch));
    if (Overflows) {
      In.reject("a piece of impossible size");
      break;
    }
    P.Bytes += Piece.bytes();
  }
  if (Error E = In.finish())
    return E;
  return P;
}

} // namespace r3::replay
