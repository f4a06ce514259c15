// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entering announces itself first and looks at Closed second, closing does it
// the other way round (all sequentially consistent), so that one of the two
// sees the other.
#include "runtime/record/Gate.h"

#include <chrono>

namespace r3::record {

void Gate::enter() {
  Inside.fetch_add(1);
  if (Closed.load())
    waitOutside();
}

void Gate::waitOutside() {
  leave();
  std::unique_lock Guard(Lock);
  bool Opened = Changed.wait_for(Guard, std::chrono::milliseconds(LimitMs),
                                 [&] { return !Closed.load(); });
  if (!Opened)
    Disturbed = true;
  Inside.fetch_add(1);
}

void Gate::leave() {
  if (Inside.fetch_sub(1) == 1 && Closed.load()) {
    std::lock_guard Guard(Lock);
    Changed.notify_all();
  }
}

bool Gate::close() {
  std::unique_lock Guard(Lock);
  Disturbed = false;
  Closed = true;
  bool Empty = Changed.wait_for(Guard, std::chrono::milliseconds(LimitMs),
                                [&] { return Inside.load() == 0; });
  if (!Empty) {
    Closed = false;
    Changed.notify_all();
  }
  return Empty;
}

void Gate::open() {
  std::lock_guard Guard(Lock);
  Closed = false;
  Changed.notify_all();
}

bool Turn::take(uint64_t LimitMs) {
  std::unique_lock Guard(Lock);
  if (!Given.wait_for(Guard, std::chrono::milliseconds(LimitMs),
                      [&] { return !Taken; }))
    return false;
  return Taken = true;
}

void Turn::give() {
  std::lock_guard Guard(Lock);
  Taken = false;
  Given.notify_one();
}

} // namespace r3::record
