// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The counting build: how many floating-point operations a launch makes, float,
// double and smaller types apart (CountAbi.h). Each thread counts the blocks of
// code that it runs to their ends, so that branches count where they are taken
// and loops as often as they turn.
//
// What is counted bounds the time of this very code from below, so only what
// the multiply-add units must do counts: additions, subtractions,
// multiplications and divisions as one, fused multiply-adds as two. A division
// takes more in truth; negation, comparison, conversion, minimum, roots and
// functions such as sine that the device has units for count nothing. Code
// generation fuses operations, which keeps the count, and does not remove any
// that a pipeline has left.
#pragma once

#include "plugin/instrument/Trace.h"

#include "llvm/IR/Module.h"

namespace r3::instrument {

/// M: the closure of a kernel, optimised: what no pipeline has looked at holds
/// operations that are never made. TraceInfo::Unseen: instructions of tensor
/// cores, whose operations are not counted.
Expected<TraceInfo> addCounting(llvm::Module &M);

} // namespace r3::instrument
