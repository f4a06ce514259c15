// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few statistics with which the search ranks. They decide nothing: what is
// accepted passes the gate on fresh data.
#pragma once

#include <span>
#include <vector>

namespace r3 {

/// Median and quartiles of the ratios original / variant, over pairs.
struct RatioSpread {
  double Median = 0; // 0: no pairs
  double Low = 0;    // lower quartile
  double High = 0;   // upper quartile
};

/// Quantile (0..1) by linear interpolation; 0 for no values.
double quantile(std::vector<double> Values, double Fraction);
/// Pairs with a time that is not positive are left out.
RatioSpread ratioSpread(std::span<const double> OriginalNs,
                        std::span<const double> VariantNs);

} // namespace r3
