// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processor threads that help with kernels, digests and scans. The thread that
// asks works too, so work goes on also where all helpers are busy.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace r3::cpu {

class Pool {
public:
  /// Threads: all in all, with the asking one; helpers start at first use.
  explicit Pool(unsigned Threads) : Threads(Threads ? Threads : 1) {}

  unsigned threads() const { return Threads; }
  /// Calls Work on this thread and on up to Wanted-1 helpers, each with a
  /// number below threads(); returns when all calls have returned.
  void run(uint64_t Wanted, const std::function<void(unsigned)> &Work);
  /// Calls Do(I) for all I below Count, in any order, on several threads.
  void each(uint64_t Count, const std::function<void(uint64_t)> &Do);

private:
  struct Job {
    const std::function<void(unsigned)> *Work;
    uint64_t Tickets; // helpers that may still join
    unsigned Running = 0;
    unsigned Next = 1;
  };
  unsigned Threads;
  std::mutex Mutex;
  std::condition_variable Offered, Left;
  std::deque<Job *> Jobs;
  bool Started = false;

  void start();
  void help();
};

} // namespace r3::cpu
