// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CUDA Toolkit that a command will use, found as clang finds it, and what
// plain clang lacks with it.
#pragma once

#include <string>

namespace r3::clangr3 {

struct Toolkit {
  std::string Path;         // empty: none found
  unsigned Version = 0;     // CUDA_VERSION of cuda.h: 13000
  bool FoundByClang = true; // else clang needs --cuda-path

  /// include/cccl, where the toolkit has moved Thrust and CUB there.
  std::string cccl() const;
  /// The architecture to build for where none is named and clang's own choice
  /// (sm_52) is one that this toolkit no longer has; empty: leave it to clang.
  std::string lowestArchitecture() const;
};

/// Given: --cuda-path, may be empty. SearchPath: $PATH. Root: where /usr lies.
Toolkit findToolkit(const std::string &Given, const std::string &SearchPath,
                    const std::string &Root = "");

} // namespace r3::clangr3
