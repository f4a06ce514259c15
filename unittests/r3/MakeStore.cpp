// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MakeStore FOLDER BACKEND: the store of TestStore.h, for lit tests.
#include "unittests/r3/TestStore.h"

#include <cstdio>

int main(int Count, char **Arguments) {
  if (Count != 3)
    return 2;
  r3::Error E = r3::makeTestStore(Arguments[1], Arguments[2]);
  if (E)
    std::fprintf(stderr, "%s\n", E.message().c_str());
  return E ? 1 : 0;
}
