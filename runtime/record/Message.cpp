// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages go through write(2), not stdio: the program may have closed or
// redirected its streams, or hold their locks.
#include "runtime/record/Message.h"

#include <atomic>
#include <mutex>
#include <set>
#include <unistd.h>

namespace r3::record {

static std::atomic<bool> IsQuiet{false};

void setQuiet(bool Quiet) { IsQuiet = Quiet; }

void say(const std::string &Text) {
  if (IsQuiet)
    return;
  std::string Line = "r3: " + Text + "\n";
  // Nothing can be done where stderr is gone.
  [[maybe_unused]] ssize_t Written =
      ::write(STDERR_FILENO, Line.data(), Line.size());
}

void sayOnce(const std::string &Text) {
  static std::mutex *Lock = new std::mutex;
  static auto *Said = new std::set<std::string>;
  {
    std::lock_guard Guard(*Lock);
    if (!Said->insert(Text).second)
      return;
  }
  say(Text);
}

} // namespace r3::record
