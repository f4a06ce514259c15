// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The committed profile as a folder: reads all kernels, writes those that
// changed, and brings the unit headers up to date. A file whose text stays the
// same is not touched, so that a build does exactly what it must; a header is
// never deleted, since compiles name it.
#pragma once

#include "runtime/support/Profile.h"

#include <map>
#include <string>
#include <vector>

namespace r3 {

class ProfileFolder {
public:
  /// Reads ROOT/r3.profile; a missing one is empty. A kernel.toml that cannot
  /// be read is an error: it is committed, and people edit it.
  static Expected<ProfileFolder> open(const std::string &Root);

  /// The profile of a kernel, empty but for its key where there is none.
  KernelProfile find(const std::string &Key) const;
  /// Puts a kernel in or replaces it. True: its text differs from before.
  bool put(const KernelProfile &Kernel);

  /// Writes what put() changed.
  Error writeKernels();
  /// Writes the headers whose text differs: of units that kernels name, and
  /// those that are there. Gives the sources that have to be compiled again.
  Expected<std::vector<std::string>> writeHeaders();

  const std::string &path() const { return Path; }
  /// Folder of a kernel below path().
  std::string folderOf(const std::string &Key) const;

private:
  explicit ProfileFolder(std::string Path) : Path(std::move(Path)) {}
  struct Entry {
    std::string Folder;
    KernelProfile Kernel;
    std::string Text; // of kernel.toml
    bool Changed = false;
  };
  std::string Path;
  std::map<std::string, Entry> Kernels; // by key
};

} // namespace r3
