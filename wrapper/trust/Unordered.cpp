// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Unordered.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <vector>

namespace r3::trust {

void sortRecords(std::span<uint8_t> Bytes, uint64_t Size) {
  std::vector<uint64_t> Order(Bytes.size() / Size);
  std::iota(Order.begin(), Order.end(), 0);
  auto FromTheEnd = [&](uint64_t Record) {
    return std::views::reverse(Bytes.subspan(Record * Size, Size));
  };
  std::sort(Order.begin(), Order.end(), [&](uint64_t A, uint64_t B) {
    return std::ranges::lexicographical_compare(FromTheEnd(A), FromTheEnd(B));
  });
  std::vector<uint8_t> Sorted;
  Sorted.reserve(Bytes.size());
  for (uint64_t Record : Order) {
    const auto One = Bytes.subspan(Record * Size, Size);
    Sorted.insert(Sorted.end(), One.begin(), One.end());
  }
  std::copy(Sorted.begin(), Sorted.end(), Bytes.begin());
}

} // namespace r3::trust
