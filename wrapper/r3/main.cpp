// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command r3.
#include "wrapper/r3/Command.h"

int main(int Count, char **Arguments) {
  return r3::runCommandLine(Count, Arguments);
}
