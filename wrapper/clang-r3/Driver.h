// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// clang-r3: clang++ with R3's plugin. Same arguments, same outputs, same exit
// code; what R3 cannot handle is compiled by plain clang, with a named reason.
#pragma once

#include <span>
#include <string>

namespace r3::clangr3 {

/// Runs one command. Arguments without the program's name. Returns the exit
/// code, or does not return where another program took over.
int run(std::span<const std::string> Arguments);

/// Identifies libR3.so as it was when this program was linked. It is in the
/// binary so that ccache, which hashes the compiler and no plugin, sees a
/// changed plugin.
extern const char PluginBuildId[];

} // namespace r3::clangr3
