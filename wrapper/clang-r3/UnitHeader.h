// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile's header of a CUDA unit (runtime/support/Profile.h): where it
// lies, and that it is there before the unit is compiled, since the unit
// depends on it.
#pragma once

#include "runtime/support/Error.h"

#include <string>

namespace r3::clangr3 {

struct UnitHeader {
  std::string Path; // as it is given to clang; empty: this unit has none
  bool InStore = false; // the profile folder could not be written
};

/// The header of Source (as given to clang) below the nearest r3.toml, or
/// below Profile (--r3-use) where that is not empty. Written empty where it is
/// missing, if Create. A source below no root has no header. The path is
/// relative where Source is. An error only where neither the profile nor the
/// store (StoreOverride: $R3_STORE) can be written.
Expected<UnitHeader> unitHeader(const std::string &Source,
                                const std::string &Profile,
                                const std::string &StoreOverride, bool Create);

} // namespace r3::clangr3
