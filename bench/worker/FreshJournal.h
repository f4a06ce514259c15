// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A journal for a search that is to know nothing of others.
#pragma once

#include "wrapper/remix/Journal.h"

#include <filesystem>
#include <memory>
#include <string>

namespace r3 {

/// In Folder, which is removed first where it exists.
inline Expected<std::unique_ptr<Journal>>
freshJournal(const std::string &Folder) {
  std::error_code Ignored;
  std::filesystem::remove_all(Folder, Ignored);
  std::filesystem::create_directory(Folder, Ignored);
  return Journal::openForWriting(Folder + "/journal.db", "bench");
}

} // namespace r3
