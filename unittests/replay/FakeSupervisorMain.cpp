// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The supervisor with fake children: "fake-supervisor DEVICE COMPILE ...". It
// stands as a launcher in front of the real one, which it ignores.
#include "wrapper/replay/Supervisor.h"

int main(int Count, char **Arguments) {
  if (Count < 3)
    return 2;
  r3::replay::SessionOptions O;
  O.DeviceProgram = Arguments[1];
  O.CompileProgram = Arguments[2];
  O.BuildDeadlineMs = 300;
  O.BuildGraceMs = 200;
  return r3::replay::supervise(O);
}
