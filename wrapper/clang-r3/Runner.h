// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Running clang: signals are passed on, descriptors are inherited, and its end
// becomes ours. A command that fails below the plugin runs once more without
// it.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Process.h"
#include "wrapper/clang-r3/Plan.h"
#include "wrapper/clang-r3/Reporter.h"

#include <string>
#include <vector>

namespace r3::clangr3 {

/// Replaces this process. Returns only where that fails.
Error become(const std::vector<std::string> &Command);

/// Runs Plan's command with a hand-over folder, says what the plugin left
/// there, and tries again without the plugin where that could help.
/// ReadsStdin: an input is "-". An error where clang cannot be started.
Expected<ExitStatus> runWithPlugin(const Plan &Work, bool ReadsStdin,
                                   bool Strict, Reporter &Report);

/// Runs to the end; SIGINT, SIGTERM, SIGHUP and SIGQUIT go to the child.
Expected<ExitStatus> runForwarding(const SpawnOptions &Options);
/// The signal that this process was asked to end with, or 0.
int receivedSignal();
/// Ends this process as Status says: by the same signal, or returns its code.
int endAs(const ExitStatus &Status);

} // namespace r3::clangr3
