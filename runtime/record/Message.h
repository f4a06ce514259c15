// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime says: whole lines "r3: ..." on stderr, one write each, none
// with R3_QUIET. May be called from any thread.
#pragma once

#include <string>

namespace r3::record {

/// From here on nothing is said (R3_QUIET).
void setQuiet(bool Quiet);
/// Prints "r3: Text" and a line end.
void say(const std::string &Text);
/// The same, at most once a process for the same Text.
void sayOnce(const std::string &Text);

} // namespace r3::record
