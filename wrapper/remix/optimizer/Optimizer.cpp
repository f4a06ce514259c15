// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optimisers by name.
#include "wrapper/remix/optimizer/Implementations.h"

#include <map>

namespace r3 {

namespace {
using Maker = std::unique_ptr<Optimizer> (*)(const SearchSpace &, uint64_t);
const std::map<std::string, Maker> Makers = {{"bayesian", makeBayesian},
                                             {"genetic", makeGenetic},
                                             {"local", makeLocal},
                                             {"random", makeRandom}};
} // namespace

const std::vector<std::string> &optimizerNames() {
  static const std::vector<std::string> Names = [] {
    std::vector<std::string> Result;
    for (const auto &[Name, Make] : Makers)
      Result.push_back(Name);
    return Result;
  }();
  return Names;
}

std::unique_ptr<Optimizer> makeOptimizer(const std::string &Name,
                                         const SearchSpace &Space,
                                         uint64_t Seed) {
  auto Found = Makers.find(Name);
  return Found == Makers.end() ? nullptr : Found->second(Space, Seed);
}

} // namespace r3
