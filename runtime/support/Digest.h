// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two digests of R3. contentDigest (XXH3-128) names files, modules and
// variants. chunkDigest names 256 KiB of recorded memory and can be computed
// in parallel on a device: a chunk is 64 leaves of 4 KiB; each leaf gives
// XXH64 with seed 0 and with seed 1 (two little-endian u64); XXH3-128 over the
// concatenation of all leaves' pairs is the chunk's digest. The last chunk of
// an allocation is digested over the bytes that it has: whole leaves, then one
// short leaf. Hosts and devices must agree bit for bit (a test).
#pragma once

#include "runtime/support/Error.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace r3 {

inline constexpr size_t LeafBytes = 4096;
inline constexpr size_t ChunkBytes = 256 * 1024;

struct Digest {
  uint64_t Low = 0;
  uint64_t High = 0;

  auto operator<=>(const Digest &) const = default;
  /// 32 lower-case hex digits, most significant first.
  std::string hex() const;
  static Expected<Digest> parse(std::string_view Hex);
};

/// XXH64 of one leaf with seeds 0 and 1.
struct LeafHash {
  uint64_t Seed0 = 0;
  uint64_t Seed1 = 0;
  bool operator==(const LeafHash &) const = default;
};

Digest contentDigest(std::span<const uint8_t> Bytes);
Digest contentDigest(std::string_view Text);
/// XXH3-64, the checksum at the end of R3's binary formats.
uint64_t checksum(std::span<const uint8_t> Bytes);
LeafHash leafHash(std::span<const uint8_t> Leaf);
/// XXH3-128 over leaf hashes in order.
Digest combineLeaves(std::span<const LeafHash> Leaves);
/// Bytes: 1..ChunkBytes of them.
Digest chunkDigest(std::span<const uint8_t> Bytes);

} // namespace r3

template <> struct std::hash<r3::Digest> {
  size_t operator()(const r3::Digest &D) const noexcept { return D.Low; }
};
