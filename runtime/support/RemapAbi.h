// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel with remapped indices and the process that launches it share.
#pragma once

namespace r3::remap {

/// Name of the global, a uint64_t, that says which order: written before a
/// launch. 0: the device's own, 1: the reverse, others: at random.
inline constexpr char RemapSeed[] = "__r3_remap_seed";

} // namespace r3::remap
