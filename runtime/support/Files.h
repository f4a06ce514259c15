// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files. Writing goes to a temporary name beside the target, is fsynced
// and renamed, so that a reader sees the old or the new file and never half.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace r3 {

/// Limit guards against a file that cannot be what it should be.
Expected<std::vector<uint8_t>> readFile(const std::string &Path,
                                        uint64_t LimitBytes = 1ull << 32);
Expected<std::string> readTextFile(const std::string &Path,
                                   uint64_t LimitBytes = 64ull << 20);
Error writeFileAtomically(const std::string &Path,
                          std::span<const uint8_t> Bytes);
Error writeFileAtomically(const std::string &Path, std::string_view Text);
/// The same with the temporary file in another folder of the file system, for
/// folders that are listed.
Error writeFileThrough(const std::string &TemporaryFolder,
                       const std::string &Path, std::span<const uint8_t> Bytes);
/// Creates a folder and its parents.
Error createFolder(const std::string &Path);
/// A fresh folder PREFIXxxxxxx with mode 0700.
Expected<std::string> createPrivateFolder(const std::string &Prefix);

/// One in the system's folder for temporary files, which goes at the end with
/// all that is in it.
class PrivateFolder {
public:
  static Expected<PrivateFolder> make(const std::string &Prefix);
  PrivateFolder(PrivateFolder &&Other) noexcept
      : Path(std::exchange(Other.Path, {})) {}
  PrivateFolder &operator=(PrivateFolder &&) = delete;
  ~PrivateFolder();
  const std::string &path() const { return Path; }

private:
  explicit PrivateFolder(std::string Path) : Path(std::move(Path)) {}
  std::string Path;
};

} // namespace r3
