// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A folder of its own for each test, gone at the end, and what tests of
// formats have in common.
#pragma once

#include "runtime/support/Files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace r3 {

class TestFolder {
public:
  TestFolder() {
    Expected<std::string> Made =
        createPrivateFolder(testing::TempDir() + "r3-test-");
    EXPECT_TRUE(Made) << Made.error().message();
    if (Made)
      Path = *Made;
  }
  TestFolder(const TestFolder &) = delete;
  ~TestFolder() {
    std::error_code Ignored;
    if (!Path.empty())
      std::filesystem::remove_all(Path, Ignored);
  }
  std::string operator/(const std::string &Name) const {
    return Path + "/" + Name;
  }
  std::string Path;
};

/// Whether a result is an error whose message contains Part.
template <typename T>
testing::AssertionResult failsWith(const Expected<T> &Result,
                                   const std::string &Part) {
  if (Result)
    return testing::AssertionFailure() << "no error";
  if (Result.error().message().find(Part) == std::string::npos)
    return testing::AssertionFailure() << Result.error().message();
  return testing::AssertionSuccess();
}

inline testing::AssertionResult failsWith(const Error &Result,
                                          const std::string &Part) {
  if (!Result)
    return testing::AssertionFailure() << "no error";
  if (Result.message().find(Part) == std::string::npos)
    return testing::AssertionFailure() << Result.message();
  return testing::AssertionSuccess();
}

} // namespace r3
