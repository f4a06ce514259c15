// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams and events of the CPU device. A stream runs its work in order, on a
// thread that starts with the first work that has to wait for it; short work
// (copies, events) runs at once in the asking thread where the stream is idle.
#pragma once

#include "runtime/support/Error.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace r3::cpu {

class Stream : public std::enable_shared_from_this<Stream> {
public:
  struct Dependency {
    std::shared_ptr<Stream> On;
    uint64_t Count = 0; // that must be completed there
  };

  Stream(bool NonBlocking, int Priority)
      : NonBlocking(NonBlocking), Priority(Priority) {}

  const bool NonBlocking;
  const int Priority;

  /// Adds work; Inline: may run in the caller where nothing is before it.
  void submit(std::function<void()> Work, std::vector<Dependency> Dependencies,
              bool Inline);
  uint64_t submitted() const;
  bool isComplete(uint64_t Count) const;
  void waitFor(uint64_t Count);
  /// The thread ends when all work is done.
  void close();

private:
  struct Task {
    std::function<void()> Work;
    std::vector<Dependency> Dependencies;
  };
  mutable std::mutex Mutex;
  std::condition_variable Changed;
  std::deque<Task> Tasks;
  uint64_t Submitted = 0;
  uint64_t Completed = 0;
  bool Running = false; // a task is being run, by whomever
  bool HasThread = false;
  bool Closed = false;

  void serve();
  void finish();
};

/// What record() leaves behind: done when the work before it was.
class Mark {
public:
  void set();
  bool isSet() const;
  void wait() const;
  std::chrono::steady_clock::time_point when() const { return When; }

private:
  mutable std::mutex Mutex;
  mutable std::condition_variable Changed;
  bool Set = false;
  std::chrono::steady_clock::time_point When;
};

struct Event {
  bool Timing = true;
  std::mutex Mutex;
  std::shared_ptr<Mark> Last; // of the last record
};

/// All streams of the process, and the order among them.
class StreamSet {
public:
  StreamSet();

  std::shared_ptr<Stream> create(bool NonBlocking, int Priority);
  /// Null where the handle is no stream. 0 and 1: the legacy stream; 2: the
  /// calling thread's.
  std::shared_ptr<Stream> find(void *Handle) const;
  bool destroy(void *Handle);
  void submit(Stream &To, std::function<void()> Work, bool Inline);
  void waitForAll();
  bool isIdle() const;
  /// Calls Work when all work that legacy stream would wait for is done,
  /// without making later work wait for it.
  void afterAll(std::function<void()> Work);

private:
  mutable std::mutex Mutex; // order of submissions, and the set
  std::shared_ptr<Stream> Legacy;
  std::shared_ptr<Stream> Observer; // runs what afterAll is given
  mutable std::set<std::shared_ptr<Stream>> Live;

  std::vector<Stream::Dependency> blockingWork() const;
  std::shared_ptr<Stream> ofThread() const;
};

} // namespace r3::cpu
