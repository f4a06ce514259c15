// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor process: speaks the worker protocol (runtime/support/Worker.h)
// with its client on stdin and stdout, and runs a Session. It links neither
// CUDA nor LLVM. It ends, with all its children, when its stdin closes, on
// "bye", on a damaged stream, on SIGTERM and on SIGHUP; after SIGKILL its
// children die by the kernel's hand.
#pragma once

#include "wrapper/replay/Session.h"

namespace r3::replay {

/// Serves the client on descriptors 0 and 1, which are moved away first so
/// that nothing else can write into the protocol. The value is the exit
/// status.
int supervise(const SessionOptions &Options);

} // namespace r3::replay
