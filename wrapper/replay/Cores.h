// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many cores there are for a worker: batch systems bind processes to some
// of a machine's, containers get a share of their time.
#pragma once

#include <string>

namespace r3::replay {

/// At least 1.
unsigned usableCores();

/// What the quotas of a control group (version 2) and of those above it come
/// to, rounded up; 0: none. Root: where they are mounted. Group: "/a/b".
unsigned quotaCores(const std::string &Root, std::string Group);

} // namespace r3::replay
