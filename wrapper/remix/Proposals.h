// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the search of one kernel has its variants from. Any number of them may
// be out at once. The same answers to the same proposals, given after the same
// number of them, give the same further ones, so that a search that is
// continued meets what its journal knows, in the same order.
#pragma once

#include "wrapper/remix/Space.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace r3 {

struct SpaceLimits;

class Proposals {
public:
  virtual ~Proposals() = default;
  /// How many there are, where the space has an end that is known.
  virtual std::optional<size_t> count() const = 0;
  /// The dimensions, with how many values each has, for people.
  virtual std::vector<std::pair<std::string, size_t>> dimensions() const = 0;
  /// A variant that was not proposed before; none: there is no other.
  virtual std::optional<Candidate> next() = 0;
  /// What came of the oldest that was not learnt of yet: its time over the
  /// original's; none where it is not right or does not run.
  virtual void learn(std::optional<double> Cost) = 0;
};

/// Name: changes where other variants are proposed for the same input.
struct ProposalSource {
  std::string Name;
  std::function<Expected<std::unique_ptr<Proposals>>(const SpaceInput &)> Open;
};

/// All of a list, in its order.
ProposalSource listed(
    std::string Name,
    std::function<Expected<std::vector<Candidate>>(const SpaceInput &)> Draw);
/// The thin space in random order.
ProposalSource thinProposals();
/// The whole space below the source (docs/SPACE.md) within Limits, as the
/// optimiser of that name searches it. Another name is a usage error of Open.
ProposalSource optimizerProposals(const std::string &Optimizer,
                                  const SpaceLimits &Limits);

} // namespace r3
