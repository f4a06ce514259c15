// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points that an optimiser knows, and the way to one that it does not.
#pragma once

#include "wrapper/remix/optimizer/SearchSpace.h"

#include <set>

namespace r3 {

/// Spaces with more points are never listed.
inline constexpr size_t MostListed = 12000;

class Seen {
public:
  /// False where it was there.
  bool add(const Point &P) { return Points.insert(P).second; }
  bool has(const Point &P) const { return Points.count(P); }

  /// A point that is not in here, at random; where draws find none, the rest
  /// of a space that can be listed; else nothing.
  std::optional<Point> drawNew(const SearchSpace &Space, Random &Dice) const {
    constexpr int Tries = 100;
    for (int I = 0; I < Tries; ++I)
      if (auto P = Space.draw(Dice); P && !has(*P))
        return P;
    std::vector<Point> Left;
    if (auto All = Space.all(MostListed))
      for (Point &P : *All)
        if (!has(P))
          Left.push_back(std::move(P));
    if (Left.empty())
      return std::nullopt;
    return Dice.pick(Left);
  }

private:
  std::set<Point> Points;
};

} // namespace r3
