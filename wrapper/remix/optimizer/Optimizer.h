// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proposes points of a search space and learns from what came of them. Any
// number of proposals may be out at once; what is told back in the same order
// gives the same proposals with the same seed. One thread.
#pragma once

#include "wrapper/remix/optimizer/SearchSpace.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

class Optimizer {
public:
  virtual ~Optimizer() = default;
  /// A point that was not proposed before; none where the space has no other,
  /// or none was found in a bounded number of tries.
  virtual std::optional<Point> propose() = 0;
  /// What came of a point, proposed or not (a resumed search tells what its
  /// journal knows): a cost, lower is better, above 0; none where it failed.
  virtual void tell(const Point &P, std::optional<double> Cost) = 0;
};

/// "bayesian", and in its place, to compare with: "random", "local" (iterated
/// local search), "genetic".
const std::vector<std::string> &optimizerNames();
/// Null for another name. Space must outlive it.
std::unique_ptr<Optimizer>
makeOptimizer(const std::string &Name, const SearchSpace &Space, uint64_t Seed);

} // namespace r3
