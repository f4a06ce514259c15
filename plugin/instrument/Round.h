// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random rounding (Monte Carlo arithmetic): each floating operation gives the
// result rounded down or up, so that the mean is the exact result: up with the
// probability that its place between the two gives. The draw depends on a seed
// (RoundAbi.h), on the place in the code and on the operands. Exact results
// stay exact, and launches with one seed repeat. The draw does not depend on
// the thread: threads that compute the same value go on to have the same value,
// so that they still agree on branches around barriers.
//
// Rounded so: + - * / fma sqrt, conversions from integers and from double to
// float, of float and double, in vectors too, and libdevice's names for them.
// Results of other libdevice functions, whose bodies stay as they are, and of
// approximate instructions move by one unit in the last place. Left alone:
// half types, atomics, explicit directed rounding, inline assembly.
#pragma once

#include "runtime/support/Error.h"

#include "llvm/IR/Module.h"

namespace r3::instrument {

/// M: the closure of a kernel as device code, variables in registers.
Error addRounding(llvm::Module &M);

} // namespace r3::instrument
