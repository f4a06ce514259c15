// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/replay/ChunkDigests.h"

#include <algorithm>

namespace r3::replay {

void combine(std::vector<Digest> &Result, const LeafHash *Hashes,
             uint64_t Leaves) {
  constexpr uint64_t PerChunk = ChunkBytes / LeafBytes;
  for (uint64_t At = 0; At < Leaves; At += PerChunk)
    Result.push_back(
        combineLeaves({Hashes + At, std::min(PerChunk, Leaves - At)}));
}

size_t ChunkDigests::add(AddressRange Where) {
  if (hashesOnDevice(Where.Begin, Where.Size)) {
    Places.push_back({true, Hashed.size(), Leaves});
    Hashed.push_back(Where);
    Leaves += leavesOf(Where.Size);
  } else {
    Places.push_back({false, Copied.size(), HostBytes});
    Copied.push_back(Where);
    HostBytes += roundUp(Where.Size);
  }
  return Places.size() - 1;
}

size_t ChunkDigests::operations() const {
  return 4 * Hashed.size() + Copied.size();
}

Error ChunkDigests::queue(Device &D, uint8_t *Buffer,
                          StreamHandle Stream) const {
  if (!Hashed.empty())
    if (Error E =
            D.hashPieces(Hashed, reinterpret_cast<LeafHash *>(Buffer), Stream))
      return E;
  uint8_t *To = Buffer + roundUp(Leaves * sizeof(LeafHash));
  for (const AddressRange &P : Copied) {
    if (Error E = D.copyToHost(To, P.Begin, P.Size, Stream))
      return E;
    To += roundUp(P.Size);
  }
  return {};
}

void ChunkDigests::append(std::vector<Digest> &Result, size_t Piece,
                          const uint8_t *Buffer) const {
  const Place &P = Places[Piece];
  if (P.OnDevice) {
    combine(Result, reinterpret_cast<const LeafHash *>(Buffer) + P.At,
            leavesOf(Hashed[P.Number].Size));
    return;
  }
  const uint8_t *From = Buffer + roundUp(Leaves * sizeof(LeafHash)) + P.At;
  const uint64_t Size = Copied[P.Number].Size;
  for (uint64_t At = 0; At < Size; At += ChunkBytes)
    Result.push_back(
        chunkDigest({From + At, std::min<uint64_t>(ChunkBytes, Size - At)}));
}

} // namespace r3::replay
