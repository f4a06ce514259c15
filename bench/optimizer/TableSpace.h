// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A search space that was measured whole: the rows of a CSV file. Its first
// line that does not begin with '#' names the columns; the last column is the
// cost of a configuration, or "fail"; the others are its parameters.
#pragma once

#include "runtime/support/Error.h"
#include "wrapper/remix/optimizer/SearchSpace.h"

#include <map>
#include <string>

namespace r3 {

class TableSpace : public SearchSpace {
public:
  static Expected<TableSpace> read(const std::string &Path);

  size_t featureCount() const override;
  void features(const Point &P, float *Out) const override;
  std::optional<Point> draw(Random &Dice) const override;
  std::optional<Point> step(const Point &P, Random &Dice) const override;
  std::optional<Point> cross(const Point &A, const Point &B,
                             Random &Dice) const override;
  std::optional<std::vector<Point>> all(size_t AtMost) const override;

  /// None: it failed.
  std::optional<double> cost(const Point &P) const { return Costs.at(P); }
  double best() const { return Best; }

private:
  struct Column {
    std::vector<std::string> Values;          // in order
    std::vector<std::vector<float>> Features; // by value
  };
  static Column describe(std::vector<std::string> Values);

  std::vector<Column> Columns;
  std::vector<Point> Rows;
  std::map<Point, std::optional<double>> Costs;
  double Best = 0;
};

} // namespace r3
