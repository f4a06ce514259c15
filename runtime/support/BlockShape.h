// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Another shape of block for a kernel that need not know: along each axis a
// block is split into several, or several are merged into one, and the kernel
// is told the indices and sizes that it would have had. As text, the
// parameters of the pass r3-remap:
//   shape := part (";" part)*     at most one for each axis, in order
//   part  := ("split" | "merge") "-" ("x" | "y" | "z") "=" factor
//   factor: 2 to 1024
// A launch then has as many threads as before, if the factor divides the
// block's size, or the number of blocks: that is a guard.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Variant.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

struct BlockShape {
  struct Axis {
    uint32_t Split = 1, Merge = 1; // one of them is 1
  };
  std::array<Axis, 3> Axes;

  static Expected<BlockShape> parse(std::string_view Text);
  std::string text() const;
  /// The launch that keeps all threads.
  std::vector<LaunchRule> launchRules() const;
  /// What must hold of a launch.
  std::vector<std::string> guards() const;
  /// A variant with this shape, its rules and guards. Change must have no
  /// rules of its own.
  void putInto(Variant &Change) const;
};

/// Whether the launch rules and guards of a variant with another shape of
/// block are those that it needs; nothing to say where it has no other.
Error checkRemap(const Variant &Change);

} // namespace r3
