// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long launches take in the program: an event before and one after, read
// later, when they have completed. Never waits. Any thread.
#pragma once

#include "runtime/device/Device.h"

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

namespace r3::record {

class Sampler {
public:
  explicit Sampler(Device &D) : D(D) {}

  struct Pair {
    EventHandle Begin = nullptr, End = nullptr;
    explicit operator bool() const { return Begin; }
  };

  /// Records the first event; nothing where too many are under way or the
  /// device refuses.
  Pair begin(StreamHandle Stream);
  /// Records the second; Report, where there is one, gets nanoseconds from a
  /// later collect(). False (and the pair is free) where the device refuses.
  bool end(Pair P, StreamHandle Stream, std::function<void(uint64_t)> Report);
  /// The launch failed: the pair is free again.
  void cancel(Pair P);
  /// The same, read at once: 0 where the events have not completed.
  uint64_t read(Pair P);

  /// Reports what has completed.
  void collect();
  bool hasPending() const { return Pending.load() != 0; }
  /// Frees events (before the device goes away).
  void releaseAll();

private:
  struct Waiting {
    Pair Events;
    std::function<void(uint64_t)> Report;
  };
  Device &D;
  std::mutex Lock;
  std::atomic<size_t> Pending{0};
  std::deque<Waiting> Queue;
  std::vector<Pair> Free;
};

} // namespace r3::record
