// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records that may come in any order, as threads leave them that take their
// places from a counter: compared as multisets, that is, sorted. Sorted are
// only those that the original writes: which places have a record is no matter
// of order, and what lies between and behind them stays where it is.
#pragma once

#include "runtime/support/Intervals.h"

#include <cstdint>
#include <optional>
#include <span>

namespace r3::trust {

struct UnorderedRecords {
  size_t Buffer = 0;
  Interval Where;    // in the buffer: the first record begins at its Begin
  uint64_t Size = 0; // of a record, not 0
  /// What the original writes of the buffer; nothing where that is not known,
  /// and all records count.
  std::optional<IntervalSet> Written;
};

/// Sorts them among their places, by their bytes from the last one on, which is
/// by size for unsigned integers and positive floating-point numbers. Bytes:
/// the whole buffer. A rest that is no whole record stays.
void sortRecords(std::span<uint8_t> Bytes, const UnorderedRecords &Which);

} // namespace r3::trust
