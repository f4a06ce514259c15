// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small store as a recorded run leaves it, without a program: three kernels
// of two units. "stencil<double>" is hot and has three recordings in two
// classes, "reduce" has one, "init" is cold and cannot be replayed.
#pragma once

#include "runtime/support/Store.h"

#include <string>

namespace r3 {

inline const std::string StencilKey(32, 'a');
inline const std::string ReduceKey(32, 'b');
inline const std::string InitKey(32, 'c');

/// RunId names the run's statistics.
Error makeTestStore(const std::string &Path, const std::string &Backend,
                    const std::string &RunId = "20260131-142501-4711");

} // namespace r3
