// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Delta debugging: the algorithm ddmin of Zeller and Hildebrandt, "Simplifying
// and Isolating Failure-Inducing Input", IEEE Transactions on Software
// Engineering 28(2), 2002. Of a set of which a property holds, a subset of
// which it holds and none of whose elements can be left out alone.
#pragma once

#include "runtime/support/Error.h"

#include <functional>
#include <vector>

namespace r3 {

/// Whether the property holds of these elements (ascending). An error ends the
/// search.
using Property = std::function<Expected<bool>(const std::vector<size_t> &)>;

/// Elements 0 to Count - 1, ascending. The property is taken to hold of all of
/// them and is not asked about that; asked about the same subset, Holds may be
/// asked more than once. Best, where not null, always has the smallest subset
/// so far, also where an error ends the search.
Expected<std::vector<size_t>> minimiseSet(size_t Count, const Property &Holds,
                                          std::vector<size_t> *Best = nullptr);

} // namespace r3
