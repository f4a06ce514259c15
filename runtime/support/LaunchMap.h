// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch maps and guards of a variant, over one launch. A map is evaluated over
// the launch as the program made it: no rule sees what another one gives.
// Names in both: grid.x .. block.z, shared, and integer fields of the
// arguments ("n", "view.size", "arg2"); align and distinct take pointers.
#pragma once

#include "runtime/support/Expression.h"
#include "runtime/support/Recording.h"
#include "runtime/support/Variant.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

/// What rules and guards look at.
struct LaunchView {
  const LaunchConfig &Launch;
  std::span<const uint8_t> Arguments;
  std::span<const ArgumentField> Fields;
  std::span<const RecordedAllocation> Allocations;

  explicit LaunchView(const Recording &R)
      : Launch(R.Launch), Arguments(R.Arguments), Fields(R.Fields),
        Allocations(R.Allocations) {}

  /// Nothing where there is no such field, or none of up to 8 bytes.
  std::optional<uint64_t> bitsOf(std::string_view Field) const;
  /// An integer field as a signed number, or a part of the configuration.
  std::optional<int64_t> numberOf(std::string_view Name) const;
};

/// A part of a configuration by its name; nothing where there is none.
std::optional<uint32_t> launchPart(const LaunchConfig &Launch,
                                   std::string_view Name);

/// The launch that Rules make of Launch.Launch. What no launch can be (no
/// blocks, no threads, negative memory) is an error that names rule,
/// expression and value.
Expected<LaunchConfig> mapLaunch(std::span<const LaunchRule> Rules,
                                 const LaunchView &Launch);

/// What a device can launch of a kernel.
struct LaunchLimits {
  Dim3 Grid{0x7fffffffu, 65535, 65535};
  Dim3 Block{1024, 1024, 64};
  uint32_t Threads = 1024;     // in a block
  uint32_t Shared = 48 * 1024; // static and dynamic, of a block
  uint32_t StaticShared = 0;   // of this kernel
};

/// Whether Mapped, which Rules gave, is within the limits. Errors as above.
Error checkLimits(std::span<const LaunchRule> Rules, const LaunchConfig &Mapped,
                  const LaunchLimits &Limits);

/// Whether a guard holds for a launch; an error where it names what there is
/// not. distinct: the two lead into two allocations, or one of them is null;
/// an address at which one allocation ends belongs to the one that begins there,
/// if any does: a kernel that goes backwards from it would not be seen.
Expected<bool> holds(const Guard &G, const LaunchView &Launch);

/// The guards of a variant, and those that its specialised scalars imply.
Expected<std::vector<Guard>> allGuards(const Variant &V);

/// The first guard that does not hold, if any.
Expected<std::optional<Guard>> firstBroken(std::span<const Guard> Guards,
                                           const LaunchView &Launch);

} // namespace r3
