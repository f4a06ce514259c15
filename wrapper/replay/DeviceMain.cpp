// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-device: the process in which originals and variants run.
#include "wrapper/replay/DeviceServer.h"

int main(int Count, char **Arguments) {
  return r3::replay::deviceMain(Count, Arguments,
                                r3::replay::openInstalledDevice);
}
