// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dependency files name the profile's header, which clang put there since it
// was included. So that make goes on when somebody deletes the header, it gets
// a rule without commands, as -MP gives to every header.
#pragma once

#include "runtime/support/Error.h"

#include <span>
#include <string>

namespace r3::clangr3 {

/// "HEADER:\n" in make's spelling.
std::string phonyRule(const std::string &Header);

/// Appends rules for those headers that File names, unless they are there.
/// A file that does not exist is left alone (clang said why).
Error addPhonyRules(const std::string &File,
                    std::span<const std::string> Headers);

} // namespace r3::clangr3
