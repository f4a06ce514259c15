// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel with random rounding and the process that launches it share.
#pragma once

namespace r3::round {

/// Name of the global, a uint64_t, that the choices depend on: written before
/// a launch. Launches with the same seed and input repeat.
inline constexpr char RoundSeed[] = "__r3_round_seed";

} // namespace r3::round
