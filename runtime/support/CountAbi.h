// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel that counts its operations and the process that launches it
// share.
#pragma once

#include "runtime/support/Measurement.h"

namespace r3::count {

/// Name of the global, an Operations, that each thread adds to when it ends:
/// cleared before a launch and read after it.
inline constexpr char CountState[] = "__r3_count_state";

static_assert(sizeof(Operations) == 3 * sizeof(uint64_t));

} // namespace r3::count
