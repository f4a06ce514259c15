// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Precision is a promise (TRUST.md, Right 10): what a variant's PTX computes
// less exactly than the original's. By kind and count:
//   - each approximate instruction by its name (ex2.approx.ftz.f32, div.full)
//   - each tensor-core product of numbers below float, and tf32, by its name
//   - arithmetic in f16, in bf16, and conversions to these or to 8 bits and
//     less; a packed pair counts twice
//   - arithmetic that flushes small numbers (.ftz), or rounds otherwise than to
//     nearest (.rz, .rm, .rp)
//   - arithmetic in f32 where the original computes in f64 (or in integers)
// Comparisons, sign changes, loads and stores are exact and are none. A kind
// that the original has may occur more often only by as much as the code was
// repeated: unrolling and coarsening copy everything, so the factor is that of
// the instruction among loads, stores and exact arithmetic that grew most; and
// nothing was repeated where exact divisions or roots have become fewer.
#pragma once

#include "wrapper/trust/Ptx.h"

namespace r3::trust {

/// "12 less exact instructions: ex2.approx.ftz.f32 x 8, f16 arithmetic x 4";
/// empty where there are none.
std::string lessPrecise(const Ptx &Original, const Ptx &Variant);

} // namespace r3::trust
