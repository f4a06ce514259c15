// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of bytes as sorted lists of intervals that neither overlap nor touch:
// what a launch read and wrote.
#pragma once

#include "runtime/support/Bytes.h"

#include <cstdint>
#include <span>
#include <vector>

namespace r3 {

struct Interval {
  uint64_t Begin = 0, End = 0; // End is not in it
  uint64_t size() const { return End - Begin; }
  bool operator==(const Interval &) const = default;
};

class IntervalSet {
public:
  /// Begin must not lie before the end of what was appended last; touching
  /// intervals become one.
  void append(Interval Next);
  /// Bits, lowest first, of which set ones are in the set; Bit: the first
  /// one's number. For pieces of one bitmap in order.
  void appendBits(std::span<const uint32_t> Words, uint64_t Bit);

  const std::vector<Interval> &intervals() const { return List; }
  bool empty() const { return List.empty(); }
  uint64_t bytes() const;
  /// What of it lies from Begin to End, which is behind Begin.
  std::vector<Interval> within(uint64_t Begin, uint64_t End) const;
  /// What is in this set and not in Other.
  IntervalSet minus(const IntervalSet &Other) const;
  bool operator==(const IntervalSet &) const = default;

  void write(ByteWriter &Out) const;
  /// Fails (in the reader) where the list is not one of a set.
  static IntervalSet read(ByteReader &In);

private:
  std::vector<Interval> List;
};

} // namespace r3
