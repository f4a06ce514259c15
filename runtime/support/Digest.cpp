// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// XXH3-128 and XXH64, compiled into this file: whoever links R3's support
// library needs no libxxhash at run time.
#include "runtime/support/Digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <iterator>

namespace r3 {

std::string Digest::hex() const {
  return format("%016llx%016llx", (unsigned long long)High,
                (unsigned long long)Low);
}

static int hexDigit(char C) {
  if (C >= '0' && C <= '9')
    return C - '0';
  if (C >= 'a' && C <= 'f')
    return C - 'a' + 10;
  return -1;
}

Expected<Digest> Digest::parse(std::string_view Hex) {
  if (Hex.size() != 32)
    return fail(ErrorCode::Damaged, "a digest has 32 hex digits, not %zu",
                Hex.size());
  uint64_t Halves[2] = {0, 0};
  for (size_t I = 0; I != 32; ++I) {
    int Digit = hexDigit(Hex[I]);
    if (Digit < 0)
      return fail(ErrorCode::Damaged,
                  "a digest has lower-case hex digits, not '%.*s'",
                  int(Hex.size()), Hex.data());
    Halves[I / 16] = Halves[I / 16] << 4 | uint64_t(Digit);
  }
  return Digest{Halves[1], Halves[0]};
}

static Digest fromXXH(XXH128_hash_t Hash) { return {Hash.low64, Hash.high64}; }

Digest contentDigest(std::span<const uint8_t> Bytes) {
  return fromXXH(XXH3_128bits(Bytes.data(), Bytes.size()));
}

Digest contentDigest(std::string_view Text) {
  return fromXXH(XXH3_128bits(Text.data(), Text.size()));
}

uint64_t checksum(std::span<const uint8_t> Bytes) {
  return XXH3_64bits(Bytes.data(), Bytes.size());
}

LeafHash leafHash(std::span<const uint8_t> Leaf) {
  return {XXH64(Leaf.data(), Leaf.size(), 0),
          XXH64(Leaf.data(), Leaf.size(), 1)};
}

Digest combineLeaves(std::span<const LeafHash> Leaves) {
  static_assert(sizeof(LeafHash) == 16 &&
                    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
                "leaf hashes are digested as they lie in memory");
  return fromXXH(XXH3_128bits(Leaves.data(), Leaves.size_bytes()));
}

Digest chunkDigest(std::span<const uint8_t> Bytes) {
  LeafHash Leaves[ChunkBytes / LeafBytes];
  size_t Count = 0;
  for (size_t At = 0; At < Bytes.size() && Count != std::size(Leaves);
       At += LeafBytes)
    Leaves[Count++] =
        leafHash(Bytes.subspan(At, std::min(LeafBytes, Bytes.size() - At)));
  return combineLeaves({Leaves, Count});
}

} // namespace r3
