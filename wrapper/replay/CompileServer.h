// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compile worker: builds variants of one kernel, each in a forked copy of
// itself with limits (verbs in CompileLink.h). Single-threaded.
#pragma once

namespace r3::replay {

/// main of r3-compile: "r3-compile PROTOCOL-FD".
int compileMain(int Count, char **Arguments);

} // namespace r3::replay
