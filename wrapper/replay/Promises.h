// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a changed kernel takes for granted of its arguments, and the recorded
// one does not (TRUST.md, Right 13). Recordings cannot show that it is so in
// the next launch: a guard of the variant has to say it.
//   - no-alias parameters (__restrict): distinct(p,q)
//   - accesses with more alignment than indices, tests in the kernel and what
//     the recorded kernel itself needs can show: align(p,N), divides(N,x)
//   - parameters that are not looked at any more: x==C
//   - __builtin_assume and __builtin_unreachable: nothing
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Expression.h"

#include <cstdint>
#include <span>
#include <string>

namespace r3::replay {

/// The first promise that no guard covers, in words, with the guards that
/// would; empty where there is none. Parameters: names, in order. Recorded and
/// Changed: bitcode of the unit.
Expected<std::string> uncoveredPromise(std::span<const uint8_t> Recorded,
                                       std::span<const uint8_t> Changed,
                                       const std::string &Kernel,
                                       std::span<const std::string> Parameters,
                                       std::span<const Guard> Guards);

} // namespace r3::replay
