// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of the CUDA Toolkit.
#pragma once

#include <string>
#include <vector>

namespace r3 {

/// Paths of the executables of this name in $CUDA_PATH/bin, PATH and
/// /usr/local/cuda/bin, in this order. Those that are there may be scripts.
std::vector<std::string> toolkitPrograms(const std::string &Name);

} // namespace r3
