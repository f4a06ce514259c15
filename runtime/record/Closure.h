// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory a launch can reach: allocations and module globals that a word
// of the argument bytes points into, and those that words of theirs point
// into, and so on. Conservative: any word, at any 4-byte step, that looks like
// an address counts, one past the end included. The memory itself is scanned
// on the device.
#pragma once

#include "runtime/record/Allocations.h"

#include <span>
#include <vector>

namespace r3::record {

struct ClosureOptions {
  bool Everything = false; // R3_RECORD_CLOSURE=all
  uint64_t TimeoutMs = 10000;
};

/// Targets: all candidates, in address order, disjoint; Roots: indices that
/// are reached anyway (globals that the kernel uses). Returns the indices of
/// all that is reached, ascending.
Expected<std::vector<size_t>> reachable(Device &D, StreamHandle Stream,
                                        std::span<const uint8_t> Arguments,
                                        std::span<const Allocation> Targets,
                                        std::span<const size_t> Roots,
                                        const ClosureOptions &Options);

/// Index of the target that Word points into, or (where no other begins
/// there) one past the end of; -1 where there is none.
ptrdiff_t targetOf(std::span<const Allocation> Targets, Address Word);

/// Calls Visit(offset, word) for each 8-byte word at a 4-byte step.
template <typename F> void eachWord(std::span<const uint8_t> Bytes, F Visit) {
  for (size_t At = 0; At + 8 <= Bytes.size(); At += 4) {
    uint64_t Word;
    __builtin_memcpy(&Word, Bytes.data() + At, 8);
    Visit(At, Word);
  }
}

} // namespace r3::record
