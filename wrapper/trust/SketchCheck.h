// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches whose results vary, timed in one batch: is a result that is gone as
// right as the last one, which has been compared in full? Of both there are
// sketches (runtime/support/Sketch.h), made with one seed that was drawn when
// no launch could know it.
//
// What is accepted is at most a *reach* away from the record, as the norm of
// the difference over a buffer: the rules for single elements, added up. So two
// accepted results are at most the sum of their reaches apart, and here a
// result is wrong beyond 1.5 times that (plus what the sums themselves round).
// The estimate's square is the mean of the squares of 64 sums of many signed
// terms, each nearly normal: for two results as far apart as the rules allow
// it passes 1.5^2 with a probability of P(chi^2_64 > 144) <=
// exp(-32 (1.25 - ln 2.25)) = 8e-7 (Chernoff). Honest results are nearer by
// factors: none was found in a simulation (SketchCheckTest.cpp). A result three
// times as far away as the rules allow is missed with 2e-9.
//
// The seed is another one for each batch: an element's place has no meaning
// that a variant could use. NaN and infinity must stand where they stand in the
// last result.
#pragma once

#include "wrapper/trust/Verdict.h"

#include "runtime/support/Sketch.h"

namespace r3::trust {

/// Parts of one buffer in two results: all chunks in which they differ.
struct SketchPair {
  Sketch Last = {}, Got = {};
  uint64_t Elements = 0;

  /// The norm of the elements in Last, and of the differences; estimates.
  double norm() const;
  double distance() const;
};

/// The reach of results that are judged by the original's spread (rule 3 of
/// Verdict.h) and by what a user allows (VariantCheck's CloseTo; 0: nothing).
/// Norm: of the elements.
double reachOfSpread(double Spread, uint64_t Elements, double CloseTo,
                     double Norm);

/// Wrong where Got is no result that could be accepted beside Last. Reach: of
/// both together.
Judgement judgeSketches(const Buffer &Where, const SketchPair &Pair,
                        double Reach);

} // namespace r3::trust
