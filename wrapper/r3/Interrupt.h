// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ctrl-C and termination. While a StopOnSignal lives, the first SIGINT,
// SIGTERM, SIGHUP or SIGUSR1 (which batch systems send before the time is up)
// sets a flag that loops look at; a second one ends the process as it would
// have. While a ForwardSignals lives, the signals that
// this process gets go to a child. One of either at a time.
#pragma once

#include <atomic>
#include <csignal>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace r3 {

/// Puts handlers in and takes them out again.
class SignalHandlers {
public:
  SignalHandlers(std::initializer_list<int> Signals,
                 void (*Handler)(int, siginfo_t *, void *));
  ~SignalHandlers();
  SignalHandlers(const SignalHandlers &) = delete;

private:
  std::vector<std::pair<int, struct sigaction>> Before;
};

class StopOnSignal {
public:
  StopOnSignal();
  const std::atomic<bool> &flag() const;

private:
  SignalHandlers Handlers;
};

class ForwardSignals {
public:
  /// Signals that come before follow() reach the child then.
  ForwardSignals();
  void follow(pid_t Child);
  ~ForwardSignals();

private:
  SignalHandlers Handlers;
};

} // namespace r3
