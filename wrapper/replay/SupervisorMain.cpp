// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-supervisor: the worker that r3 starts.
#include "wrapper/replay/Supervisor.h"

#include "runtime/support/Options.h"
#include "runtime/support/Process.h"

int main() {
  r3::replay::SessionOptions Options;
  Options.DeviceProgram = r3::installationPath("libexec/r3/r3-device");
  Options.CompileProgram = r3::installationPath("libexec/r3/r3-compile");
  if (const auto Variables = r3::Environment::read()) {
    Options.LeastDeadlineMs = Variables->number("R3_LAUNCH_DEADLINE");
    Options.Confine = Variables->flag("R3_CONFINE");
  }
  return r3::replay::supervise(Options);
}
