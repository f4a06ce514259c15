// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program clang-r3.
#include "wrapper/clang-r3/Driver.h"

#include <vector>

int main(int Count, char **Values) {
  std::vector<std::string> Arguments(Values + (Count > 0), Values + Count);
  return r3::clangr3::run(Arguments);
}
