// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal handlers: they touch atomics, kill and sigaction, nothing else.
#include "wrapper/r3/Interrupt.h"

#include <cerrno>
#include <unistd.h>

namespace r3 {

namespace {

std::atomic<bool> Stopped;
std::atomic<pid_t> Child;
std::atomic<int> Early; // a signal that came before there was a child

static_assert(std::atomic<pid_t>::is_always_lock_free);

void stop(int Signal, siginfo_t *, void *) {
  Stopped = true;
  // The second one ends the process.
  struct sigaction Default{};
  Default.sa_handler = SIG_DFL;
  sigaction(Signal, &Default, nullptr);
}

void forward(int Signal, siginfo_t *Info, void *) {
  // What the terminal sends, it sends to the whole group: the child has it.
  if (Info->si_code == SI_KERNEL)
    return;
  int Before = errno;
  pid_t To = Child;
  if (To > 0)
    kill(To, Signal);
  else
    Early = Signal;
  errno = Before;
}

} // namespace

SignalHandlers::SignalHandlers(std::initializer_list<int> Signals,
                               void (*Handler)(int, siginfo_t *, void *)) {
  for (int Signal : Signals) {
    struct sigaction Old{};
    sigaction(Signal, nullptr, &Old);
    // What the parent had ignored (nohup) stays ignored.
    if (!(Old.sa_flags & SA_SIGINFO) && Old.sa_handler == SIG_IGN)
      continue;
    struct sigaction New{};
    New.sa_sigaction = Handler;
    New.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(Signal, &New, nullptr);
    Before.push_back({Signal, Old});
  }
}

SignalHandlers::~SignalHandlers() {
  for (const auto &[Signal, Old] : Before)
    sigaction(Signal, &Old, nullptr);
}

StopOnSignal::StopOnSignal()
    : Handlers({SIGINT, SIGTERM, SIGHUP, SIGUSR1}, stop) {
  Stopped = false;
}

const std::atomic<bool> &StopOnSignal::flag() const { return Stopped; }

ForwardSignals::ForwardSignals()
    : Handlers({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT,
                SIGALRM},
               forward) {
  Child = 0;
  Early = 0;
}

void ForwardSignals::follow(pid_t To) {
  Child = To;
  if (int Signal = Early.exchange(0))
    kill(To, Signal);
}

ForwardSignals::~ForwardSignals() { Child = 0; }

} // namespace r3
