// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The optimisers behind makeOptimizer().
#pragma once

#include "wrapper/remix/optimizer/Optimizer.h"

namespace r3 {

std::unique_ptr<Optimizer> makeBayesian(const SearchSpace &Space,
                                        uint64_t Seed);
std::unique_ptr<Optimizer> makeRandom(const SearchSpace &Space, uint64_t Seed);
std::unique_ptr<Optimizer> makeLocal(const SearchSpace &Space, uint64_t Seed);
std::unique_ptr<Optimizer> makeGenetic(const SearchSpace &Space, uint64_t Seed);

} // namespace r3
