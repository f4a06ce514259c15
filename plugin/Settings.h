// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's options, given as -mllvm -r3-...=VALUE by clang-r3 and CMake:
//   -r3-profile-header=PATH  the unit's header below r3.profile/units/
//   -r3-mode=use             apply the profile, embed nothing
#pragma once

#include <string>

namespace r3::plugin {

/// Empty where none was given.
std::string profileHeader();
bool embedsDeviceCode();

} // namespace r3::plugin
