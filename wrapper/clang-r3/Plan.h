// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a command line of clang-r3 to the command of clang++ that does the
// work: what is added in front, what at the end. Pure, but for looking at the
// toolkit, the linker's inputs and the unit headers.
#pragma once

#include "wrapper/clang-r3/Arguments.h"
#include "wrapper/clang-r3/UnitHeader.h"

#include <string>
#include <vector>

namespace r3::clangr3 {

/// Where things are.
struct Places {
  std::string Clang;         // clang++
  std::string Plugin;        // libR3.so; empty: there is none
  std::string SearchPath;    // $PATH
  std::string StoreOverride; // $R3_STORE
};

/// Something that the user should know: a reason and a text.
struct Remark {
  std::string Reason;
  std::string Text;
};

struct Plan {
  std::vector<std::string> Command;      // with the plugin
  std::vector<std::string> PlainCommand; // the same without the plugin
  bool UsesPlugin = false;
  bool LacksPlugin = false; // would use it, if it were there
  std::vector<std::string> Headers; // unit headers that are included
  std::vector<Remark> Remarks;
};

Plan makePlan(const CommandLine &Line, const Places &Where);

} // namespace r3::clangr3
