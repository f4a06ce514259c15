// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantiles and ratios.
#include "wrapper/remix/Statistics.h"

#include <algorithm>
#include <cmath>

namespace r3 {

double quantile(std::vector<double> Values, double Fraction) {
  if (Values.empty())
    return 0;
  std::sort(Values.begin(), Values.end());
  double Place = Fraction * double(Values.size() - 1);
  size_t Below = size_t(std::floor(Place));
  size_t Above = std::min(Below + 1, Values.size() - 1);
  return Values[Below] +
         (Place - double(Below)) * (Values[Above] - Values[Below]);
}

RatioSpread ratioSpread(std::span<const double> OriginalNs,
                        std::span<const double> VariantNs) {
  std::vector<double> Ratios;
  for (size_t I = 0; I < std::min(OriginalNs.size(), VariantNs.size()); ++I)
    if (OriginalNs[I] > 0 && VariantNs[I] > 0)
      Ratios.push_back(OriginalNs[I] / VariantNs[I]);
  return {quantile(Ratios, 0.5), quantile(Ratios, 0.25),
          quantile(Ratios, 0.75)};
}

} // namespace r3
