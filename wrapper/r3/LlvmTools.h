// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's opt and FileCheck, of the LLVM that R3 was built with: beside the
// clang++ that clang-r3 runs, else in its installation, else in PATH.
#pragma once

#include "wrapper/r3/Command.h"

namespace r3 {

class LlvmTools {
public:
  /// CannotRunHere where one of them, or the plugin, is missing.
  static Expected<LlvmTools> find(Context &Given);

  /// Runs passes, R3's own among them, on a module (bitcode or text); printed
  /// IR. Options: further ones of opt. Failed with opt's first line.
  Expected<std::string> optimise(const std::string &Module,
                                 const std::string &Passes,
                                 const std::vector<std::string> &Options);
  /// Whether Input is as the lines of a file with this prefix say.
  Expected<bool> check(const std::string &File, const std::string &Prefix,
                       const std::vector<std::string> &Options,
                       const std::string &Input);

  const std::string &folder() const { return Folder; }
  const std::string &plugin() const { return Plugin; }

private:
  explicit LlvmTools(Context &Given) : Given(&Given) {}
  Context *Given;
  std::string Folder, Plugin;
};

} // namespace r3
