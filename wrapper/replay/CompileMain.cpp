// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3-compile: builds variants, so that nothing else in a worker needs LLVM.
#include "wrapper/replay/CompileServer.h"

int main(int Count, char **Arguments) {
  return r3::replay::compileMain(Count, Arguments);
}
