// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search space as an optimiser sees it: points that it draws, changes and
// describes by numbers, without knowing what they mean. A point may be of any
// length (a list of edits has no fixed number of dimensions), and dimensions
// that matter only under a condition are the space's own affair: it never
// gives the same thing as two points.
#pragma once

#include "wrapper/remix/optimizer/Random.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace r3 {

/// Integers whose meaning only the space knows. Two points are the same thing
/// exactly when they are equal.
using Point = std::vector<int32_t>;

/// Const members may be called by several threads at once.
class SearchSpace {
public:
  virtual ~SearchSpace() = default;

  /// How many numbers describe a point; the same for all.
  virtual size_t featureCount() const = 0;
  /// Writes featureCount() numbers in 0..1, on scales on which equal steps
  /// matter alike (the logarithm of a size, not the size). A choice without an
  /// order is one number for each value, 0 or 1.
  virtual void features(const Point &P, float *Out) const = 0;

  /// A point that keeps every limit that is known beforehand; none where a
  /// bounded number of tries found none.
  virtual std::optional<Point> draw(Random &Dice) const = 0;
  /// P with one small change.
  virtual std::optional<Point> step(const Point &P, Random &Dice) const = 0;
  /// Something of both.
  virtual std::optional<Point> cross(const Point &A, const Point &B,
                                     Random &Dice) const = 0;

  /// Every point, where there are at most AtMost and they can be listed; else
  /// nothing.
  virtual std::optional<std::vector<Point>> all(size_t AtMost) const {
    (void)AtMost;
    return std::nullopt;
  }
};

} // namespace r3
