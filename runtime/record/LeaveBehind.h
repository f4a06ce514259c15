// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device may still write to after a timeout outlives everything. It
// stays reachable, so that a leak checker does not take it for a mistake.
#pragma once

#include <deque>
#include <mutex>
#include <type_traits>
#include <utility>

namespace r3::record {

/// Keeps Value for good; its buffers stay where they are. From any thread.
template <typename T> void leaveBehind(T &&Value) {
  static std::mutex Lock;
  static auto &Left = *new std::deque<std::remove_cvref_t<T>>;
  std::lock_guard Guard(Lock);
  Left.push_back(std::forward<T>(Value));
}

} // namespace r3::record
