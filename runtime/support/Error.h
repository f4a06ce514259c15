// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How R3 reports that something could not be done. A function that can fail
// returns Error (nothing to give back) or Expected<T>. An error has a code,
// which decides the exit status of a command, and a message: lower case, no
// full stop, with file and numbers. Context is added in front on the way up.
// Values are plain: copyable, no hidden state, usable from any thread.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace r3 {

enum class ErrorCode {
  Ok,
  Failed,        // the operation failed
  Usage,         // the caller asked for something that does not exist
  NotFound,      // a file, kernel or recording is not there
  Damaged,       // bytes that do not follow their format
  Stale,         // made for another program, compiler or device
  Wrong,         // a result differs from the expected one
  Slower,        // right, but not faster
  CannotRunHere, // no device, driver, toolkit or permission
  NoSpace,       // the disk or the device memory is full
  Timeout,       // a deadline passed
  Interrupted,   // Ctrl-C or a signal
};

/// Success, or a code with a message. Converts to true when it *is* an error.
class [[nodiscard]] Error {
public:
  Error() = default;
  Error(ErrorCode Code, std::string Message)
      : Code(Code), Message(std::move(Message)) {
    assert(Code != ErrorCode::Ok && "an error needs a code");
  }

  static Error success() { return {}; }
  explicit operator bool() const { return Code != ErrorCode::Ok; }
  ErrorCode code() const { return Code; }
  const std::string &message() const { return Message; }

  /// The same error with "Where: " in front of its message.
  Error in(const std::string &Where) const {
    return *this ? Error(Code, Where + ": " + Message) : *this;
  }

private:
  ErrorCode Code = ErrorCode::Ok;
  std::string Message;
};

/// A value, or the reason why there is none.
template <typename T> class [[nodiscard]] Expected {
public:
  Expected(T Value) : Value(std::move(Value)) {}
  Expected(Error Failure) : Failure(std::move(Failure)) {
    assert(this->Failure && "success without a value");
  }

  explicit operator bool() const { return Value.has_value(); }
  T &operator*() { return *Value; }
  const T &operator*() const { return *Value; }
  T *operator->() { return &*Value; }
  const T *operator->() const { return &*Value; }
  /// The error; only where there is no value.
  const Error &error() const { return Failure; }

private:
  std::optional<T> Value;
  Error Failure;
};

/// Exit status of a command for a result (0 holds, 1 failed, 2 usage, 3 stale,
/// 4 wrong, 5 slower, 6 cannot run here).
int exitCode(ErrorCode Code);

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string format(const char *Format, ...);

/// An error whose message is printf-formatted.
[[gnu::format(printf, 2, 3)]] Error fail(ErrorCode Code, const char *Format,
                                         ...);

} // namespace r3
