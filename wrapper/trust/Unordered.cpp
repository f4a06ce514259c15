// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Unordered.h"

#include <algorithm>
#include <ranges>
#include <vector>

namespace r3::trust {

namespace {

/// Offsets of the records that are sorted.
std::vector<uint64_t> placesOf(const UnorderedRecords &Which, uint64_t Bytes) {
  const uint64_t Begin = Which.Where.Begin, Size = Which.Size;
  const uint64_t End = std::min(Which.Where.End, Bytes);
  const uint64_t Count = End > Begin ? (End - Begin) / Size : 0;
  std::vector<uint64_t> Places;
  auto Append = [&](uint64_t First, uint64_t Last) {
    for (; First < std::min(Last, Count); ++First)
      Places.push_back(Begin + First * Size);
  };
  if (!Which.Written) {
    Append(0, Count);
    return Places;
  }
  uint64_t Next = 0; // not looked at yet
  for (const Interval &I : Which.Written->intervals()) {
    if (I.End <= Begin)
      continue;
    const uint64_t First = I.Begin > Begin ? (I.Begin - Begin) / Size : 0;
    const uint64_t Last = (I.End - Begin + Size - 1) / Size;
    Append(std::max(First, Next), Last);
    Next = std::max(Next, Last);
  }
  return Places;
}

} // namespace

void sortRecords(std::span<uint8_t> Bytes, const UnorderedRecords &Which) {
  const std::vector<uint64_t> Places = placesOf(Which, Bytes.size());
  auto FromTheEnd = [&](uint64_t Place) {
    return std::views::reverse(Bytes.subspan(Place, Which.Size));
  };
  std::vector<uint64_t> Order = Places;
  std::sort(Order.begin(), Order.end(), [&](uint64_t A, uint64_t B) {
    return std::ranges::lexicographical_compare(FromTheEnd(A), FromTheEnd(B));
  });
  std::vector<uint8_t> Sorted;
  Sorted.reserve(Places.size() * Which.Size);
  for (uint64_t Place : Order) {
    const auto One = Bytes.subspan(Place, Which.Size);
    Sorted.insert(Sorted.end(), One.begin(), One.end());
  }
  for (size_t I = 0; I < Places.size(); ++I)
    std::copy_n(Sorted.begin() + ptrdiff_t(I * Which.Size), Which.Size,
                Bytes.begin() + ptrdiff_t(Places[I]));
}

} // namespace r3::trust
