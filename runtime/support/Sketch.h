// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sketches tell how far apart two large buffers are without bringing them to
// one place: 64 sums S_k = sum over i of s_k(i) x_i, each with random signs of
// its own (Alon, Matias, Szegedy: The space complexity of approximating the
// frequency moments, STOC 1996). The mean of (S_k - S'_k)^2 has the expectation
// |x - x'|^2, and a standard deviation of at most sqrt(2 / 64) = 18 % of it.
// Whoever does not know the seed cannot make another x with the same sums.
//
// 64 signs for each element would cost 64 additions. Instead elements go in
// groups of 64: random signs, the Walsh-Hadamard transform, whose rows are 64
// orthogonal patterns of signs (6 additions an element), and a random sign for
// each of the 64 results, which are then added to the sums. So s_k(i) is the
// product of three signs; elements of one group do not disturb each other at
// all, those of different groups as above (the transform after random signs:
// Ailon, Chazelle, STOC 2006).
//
// NaN, infinity and numbers from 2^960 on stay out of the sums; their places
// and kinds are digested. Bytes behind the last whole element are left out.
// Sums are of double, compensated: off by about 2^-53 of the norm of x.
#pragma once

#include "runtime/support/Bytes.h"
#include "runtime/support/Digest.h"
#include "runtime/support/Recording.h"
#include "runtime/support/SketchParts.h"

#include <span>

namespace r3 {

/// Which numbers are sketched, and with which signs. Sketches with the same
/// seed add up to that of all their elements.
struct SketchForm {
  ValueType Type = ValueType::F64; // or F32
  uint64_t Seed = 0;
  uint64_t FirstElement = 0; // of the bytes, in their buffer: a multiple of 64

  uint64_t elementBytes() const { return Type == ValueType::F32 ? 4 : 8; }
  /// Of the Index-th chunk from the bytes on.
  SketchForm ofChunk(uint64_t Index) const {
    return {Type, Seed, FirstElement + Index * ChunkBytes / elementBytes()};
  }
};

/// Of up to a chunk of bytes, at any address.
Sketch sketchOf(std::span<const uint8_t> Bytes, const SketchForm &Form);
void addTo(Sketch &Sum, const Sketch &Other);

void writeSketch(ByteWriter &Out, const Sketch &S);
Sketch readSketch(ByteReader &In);

} // namespace r3
