// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dimensions of a kernel's space besides the edits of its pipeline: each a
// name and a short list of values, of which the first leaves things as they
// are. Which there are follows from the device and the recorded launches.
#pragma once

#include "wrapper/remix/Space.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

struct DimensionValue {
  std::string Text;                    // "64"; of the first "-"
  double Size = 0;                     // where values have an order
  std::function<void(Variant &)> Make; // what it does to a variant
};

struct Dimension {
  std::string Name; // "maxnreg", "scalar n": for people
  std::string Key;  // in r3.toml: "maxnreg", "scalars"
  bool IsOrdered = false;
  std::vector<DimensionValue> Values;
  /// A point that has a value here has none in the dimension of this name.
  std::string Excludes;
};

/// Edits of a pipeline, at most.
inline constexpr size_t MostPassEdits = 12;

/// What of a space is searched: r3.toml's [space].
struct SpaceLimits {
  /// By key: the values that may be tried beside the one that leaves things
  /// as they are. What is not named here is not limited.
  std::map<std::string, std::vector<std::string>> Values;
  std::optional<size_t> Edits; // of the pipeline, at most
  bool Applicable = false;     // only what a build can bring about
};

/// A key of SpaceLimits, with the values that it knows; none: names of the
/// kernel's parameters, or of passes.
struct SpaceKey {
  std::string Name, Help;
  std::vector<std::string> Values;
};
const std::vector<SpaceKey> &spaceKeys();

/// Usage, with what is known, where there is no such key or value.
Error checkLimits(const SpaceLimits &Limits);

/// Those that have more than one value.
std::vector<Dimension> dimensionsOf(const SpaceInput &Input,
                                    const SpaceLimits &Limits);

/// Why a variant cannot be launched as the recorded launches are; empty: it
/// can, for all that is known without building it.
std::string knownLimit(const Variant &V, const SpaceInput &Input);

} // namespace r3
