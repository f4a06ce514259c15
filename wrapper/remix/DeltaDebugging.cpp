// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/remix/DeltaDebugging.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace r3 {

namespace {

using Set = std::vector<size_t>;

/// The Index-th of Parts parts that differ by at most one element in size.
Set part(const Set &Of, size_t Index, size_t Parts) {
  return {Of.begin() + long(Index * Of.size() / Parts),
          Of.begin() + long((Index + 1) * Of.size() / Parts)};
}

Set without(const Set &Of, const Set &Left) {
  Set Rest;
  std::set_difference(Of.begin(), Of.end(), Left.begin(), Left.end(),
                      std::back_inserter(Rest));
  return Rest;
}

/// "Reduce to subset", then "reduce to complement" of the paper. Sets Parts
/// for the next round; false: neither is possible.
Expected<bool> reduce(Set &Current, size_t &Parts, const Property &Holds) {
  for (size_t I = 0; I < Parts; ++I) {
    Set Subset = part(Current, I, Parts);
    auto Enough = Holds(Subset);
    if (!Enough)
      return Enough;
    if (*Enough) {
      Current = std::move(Subset);
      Parts = 2;
      return true;
    }
  }
  // Of two parts each is the complement of the other.
  for (size_t I = 0; Parts > 2 && I < Parts; ++I) {
    Set Rest = without(Current, part(Current, I, Parts));
    auto Enough = Holds(Rest);
    if (!Enough)
      return Enough;
    if (*Enough) {
      Current = std::move(Rest);
      Parts = std::max<size_t>(Parts - 1, 2);
      return true;
    }
  }
  return false;
}

} // namespace

Expected<std::vector<size_t>> minimiseSet(size_t Count, const Property &Holds,
                                          std::vector<size_t> *Best) {
  Set Current(Count);
  std::iota(Current.begin(), Current.end(), size_t(0));
  auto note = [&] {
    if (Best)
      *Best = Current;
  };
  note();
  if (Count) {
    auto Nothing = Holds({});
    if (!Nothing)
      return Nothing.error();
    if (*Nothing)
      Current.clear();
    note();
  }
  for (size_t Parts = 2; Current.size() >= 2;) {
    auto Smaller = reduce(Current, Parts, Holds);
    if (!Smaller)
      return Smaller.error();
    note();
    if (*Smaller)
      continue;
    if (Parts >= Current.size())
      break;
    Parts = std::min(2 * Parts, Current.size());
  }
  return Current;
}

} // namespace r3
