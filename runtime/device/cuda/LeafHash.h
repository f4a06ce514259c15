// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// XXH64 in pieces that a device can run in parallel: four accumulators take
// eight bytes of every 32-byte stripe each, so four threads work on one leaf,
// and one multiplication of the input serves both seeds. Everything here is
// constexpr, hence compiled for the host (a test compares with libxxhash) and
// for the device (Kernels.cu) from the same text. Bytes are little-endian.
#pragma once

#include <stdint.h>

namespace r3::leaf {

inline constexpr uint64_t Prime1 = 0x9E3779B185EBCA87ull;
inline constexpr uint64_t Prime2 = 0xC2B2AE3D27D4EB4Full;
inline constexpr uint64_t Prime3 = 0x165667B19E3779F9ull;
inline constexpr uint64_t Prime4 = 0x85EBCA77C2B2AE63ull;
inline constexpr uint64_t Prime5 = 0x27D4EB2F165667C5ull;

inline constexpr unsigned StripeBytes = 32;

constexpr uint64_t rotate(uint64_t Value, unsigned Bits) {
  return Value << Bits | Value >> (64 - Bits);
}

/// Start of accumulator Lane (0..3).
constexpr uint64_t start(uint64_t Seed, unsigned Lane) {
  return Lane == 0   ? Seed + Prime1 + Prime2
         : Lane == 1 ? Seed + Prime2
         : Lane == 2 ? Seed
                     : Seed - Prime1;
}

/// The part of a round that does not depend on the seed.
constexpr uint64_t scramble(uint64_t Word) { return Word * Prime2; }

constexpr uint64_t round(uint64_t Accumulator, uint64_t Scrambled) {
  return rotate(Accumulator + Scrambled, 31) * Prime1;
}

constexpr uint64_t merge(uint64_t Hash, uint64_t Accumulator) {
  return (Hash ^ round(0, scramble(Accumulator))) * Prime1 + Prime4;
}

/// The four accumulators after the last whole stripe.
constexpr uint64_t converge(uint64_t A, uint64_t B, uint64_t C, uint64_t D) {
  uint64_t Hash = rotate(A, 1) + rotate(B, 7) + rotate(C, 12) + rotate(D, 18);
  return merge(merge(merge(merge(Hash, A), B), C), D);
}

/// Eight or four bytes at any address.
constexpr uint64_t load64(const uint8_t *From) {
  uint64_t Word = 0;
  for (unsigned I = 0; I < 8; ++I)
    Word |= uint64_t(From[I]) << (8 * I);
  return Word;
}

constexpr uint64_t load32(const uint8_t *From) {
  uint64_t Word = 0;
  for (unsigned I = 0; I < 4; ++I)
    Word |= uint64_t(From[I]) << (8 * I);
  return Word;
}

constexpr uint64_t avalanche(uint64_t Hash) {
  Hash = (Hash ^ Hash >> 33) * Prime2;
  Hash = (Hash ^ Hash >> 29) * Prime3;
  return Hash ^ Hash >> 32;
}

/// Takes in the Left (0..31) bytes behind the last whole stripe. Hash holds
/// the converged accumulators (or Seed + Prime5 where there was no stripe)
/// plus the length.
constexpr uint64_t finish(uint64_t Hash, const uint8_t *Tail, unsigned Left) {
  for (; Left >= 8; Left -= 8, Tail += 8)
    Hash =
        rotate(Hash ^ round(0, scramble(load64(Tail))), 27) * Prime1 + Prime4;
  if (Left >= 4) {
    Hash = rotate(Hash ^ load32(Tail) * Prime1, 23) * Prime2 + Prime3;
    Left -= 4;
    Tail += 4;
  }
  for (; Left > 0; --Left, ++Tail)
    Hash = rotate(Hash ^ *Tail * Prime5, 11) * Prime1;
  return avalanche(Hash);
}

} // namespace r3::leaf
