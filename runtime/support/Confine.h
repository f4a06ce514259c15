// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes files away from a process: Linux's Landlock, which needs no rights and
// lists what may still be opened
// (https://docs.kernel.org/userspace-api/landlock.html).
#pragma once

#include "runtime/support/Error.h"

#include <string>
#include <vector>

namespace r3 {

/// Files, and folders with all that is below them.
struct FileAccess {
  std::vector<std::string> Readable;
  std::vector<std::string> Writable; // and readable
};

/// The version of the kernel's Landlock; 0: it has none (before Linux 5.13, or
/// where it is not turned on).
int landlockVersion();

/// From here on the calling thread, and what it starts, opens nothing but
/// Allowed, and gains no rights by what it executes. What is open stays open,
/// and threads that there are already stay free. Paths that are not there are
/// left out. False: the kernel has no Landlock, and nothing has changed.
Expected<bool> confine(const FileAccess &Allowed);

/// Path; where Hidden lies below it, instead all that is in it and does not
/// lead there. Nothing where Path lies below Hidden. What comes there later is
/// left out, too.
std::vector<std::string> pathsWithout(const std::string &Path,
                                      const std::string &Hidden);

} // namespace r3
