// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exit codes of errors and printf into strings.
#include "runtime/support/Error.h"

#include <cstdarg>
#include <cstdio>

namespace r3 {

int exitCode(ErrorCode Code) {
  switch (Code) {
  case ErrorCode::Ok:
    return 0;
  case ErrorCode::Usage:
    return 2;
  case ErrorCode::Stale:
    return 3;
  case ErrorCode::Wrong:
    return 4;
  case ErrorCode::Slower:
    return 5;
  case ErrorCode::CannotRunHere:
    return 6;
  case ErrorCode::Failed:
  case ErrorCode::NotFound:
  case ErrorCode::Damaged:
  case ErrorCode::NoSpace:
  case ErrorCode::Timeout:
  case ErrorCode::Interrupted:
    return 1;
  }
  return 1;
}

static std::string formatList(const char *Format, va_list List) {
  va_list Copy;
  va_copy(Copy, List);
  int Length = std::vsnprintf(nullptr, 0, Format, Copy);
  va_end(Copy);
  if (Length <= 0)
    return {};
  std::string Result(size_t(Length), '\0');
  // Writes the terminating zero over the string's own.
  std::vsnprintf(Result.data(), Result.size() + 1, Format, List);
  return Result;
}

std::string format(const char *Format, ...) {
  va_list List;
  va_start(List, Format);
  std::string Result = formatList(Format, List);
  va_end(List);
  return Result;
}

Error fail(ErrorCode Code, const char *Format, ...) {
  va_list List;
  va_start(List, Format);
  std::string Message = formatList(Format, List);
  va_end(List);
  return Error(Code, std::move(Message));
}

} // namespace r3
