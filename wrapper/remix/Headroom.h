// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a search can gain something: how far a kernel's launches are above the
// time that memory, the L2 cache and the arithmetic units allow
// (wrapper/trust/Floor.h), which takes some replays of the original. A kernel
// that moves its data as fast as the device can has none, whatever is done to
// its code; one that calculates as fast has none short of another algorithm.
#pragma once

#include "wrapper/remix/Search.h"

namespace r3 {

/// A kernel within this factor of its floor has no headroom.
constexpr double AtFloor = 1.05;

/// Replays the original of each recording of each kernel and writes what was
/// found into its Headroom. What is not known (launches that cannot be traced
/// or do not reproduce, warm caches in the program, the CPU device, whose
/// processor others use, too) stays so, with the reason. Tell is called before
/// each kernel. Fails where no worker can be started or Stop is set.
Error measureHeadroom(const EvaluatorSource &Source,
                      std::vector<SearchKernel> &Kernels, unsigned Repetitions,
                      const std::function<void(const SearchKernel &)> &Tell,
                      const std::atomic<bool> &Stop);

/// "38.2 %", "none", or "-" where it is not known.
std::string headroomText(const Headroom &Of);

} // namespace r3
