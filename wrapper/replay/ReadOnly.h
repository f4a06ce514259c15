// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that only the recorded original's reads may touch: while a variant
// runs it is mapped for reading. Which memory that is, and how a store to it is
// told: a process of the CPU device dies of it, and says with its last words
// where it was. (Other devices report a fault without a place.)
#pragma once

#include "wrapper/replay/Plan.h"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace r3::replay {

/// All of the segments but the ranges Written (numbers, in order) of L, in
/// multiples of Unit; nothing for 0.
std::vector<MemoryRange>
readOnlyMemory(const std::vector<MemoryRange> &Segments, const PlanLaunch &L,
               std::span<const uint64_t> Written, uint64_t Unit);

/// From here on a store to one of Ranges writes its address to stderr before
/// the process dies of it; another fault ends the process as ever. Not while
/// code runs.
void tellDeniedWrites(const std::vector<MemoryRange> &Ranges);
/// The address in a process's last words; nothing where there is none.
std::optional<uint64_t> deniedWrite(std::string_view LastWords);

} // namespace r3::replay
