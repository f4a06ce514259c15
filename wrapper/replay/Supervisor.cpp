// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// This thread works, one reads requests (so that a closed stdin or "cancel" is
// seen while a variant runs, and what waits is built meanwhile), one waits for
// signals. None of them ends before the process: the children that a thread
// starts die with it.
#include "wrapper/replay/Supervisor.h"

#include "runtime/support/Protocol.h"

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace r3::replay {

namespace {

constexpr int GreetingMs = 60000;

class Supervisor {
public:
  Supervisor(const SessionOptions &Options, Channel Link)
      : Link(std::move(Link)), Work(Options, All, Cancelled) {}

  int run();

private:
  void readRequests();
  void waitForSignals();
  Frame next();
  void rest();
  /// Ends everything; any thread.
  [[noreturn]] void end(int Status);

  Channel Link;
  Children All;
  std::atomic<bool> Cancelled{false};
  Session Work;
  std::mutex Lock;
  std::condition_variable Arrived;
  struct Waiting {
    Frame Request;
    bool Cancelled = false; // before it was begun
  };
  std::deque<Waiting> Requests;
  bool Busy = false; // with a request that is in Requests no more
  std::mutex Ending;
};

void Supervisor::end(int Status) {
  Ending.lock(); // one thread ends the process, others wait here
  All.endAll();
  _exit(Status);
}

std::string verbOf(const Frame &F) {
  auto Request = json::parse(F.Json, "request");
  return Request ? json::text(*Request, "verb", "") : "";
}

void Supervisor::readRequests() {
  for (;;) {
    auto F = Link.receive(/*TimeoutMs=*/-1);
    if (!F) {
      const bool Closed = F.error().code() == ErrorCode::NotFound;
      if (!Closed)
        std::fprintf(stderr, "r3-supervisor: %s\n",
                     F.error().message().c_str());
      end(Closed ? 0 : 1);
    }
    const std::string Verb = verbOf(*F);
    if (Verb == "bye")
      end(0);
    std::lock_guard Guard(Lock);
    if (Verb == "cancel") {
      // The requests that it ends are answered, this one is not.
      Cancelled = true;
      for (Waiting &Each : Requests)
        Each.Cancelled = true;
      Work.dropAhead();
      continue;
    }
    if (Verb == "evaluate" && (Busy || !Requests.empty()))
      Work.buildAhead(F->Id, F->Json);
    Requests.push_back({std::move(*F)});
    Arrived.notify_one();
  }
}

void Supervisor::waitForSignals() {
  sigset_t Set;
  sigemptyset(&Set);
  sigaddset(&Set, SIGTERM);
  sigaddset(&Set, SIGHUP);
  int Signal = 0;
  while (sigwait(&Set, &Signal) != 0)
    ;
  end(128 + Signal);
}

Frame Supervisor::next() {
  std::unique_lock Guard(Lock);
  Arrived.wait(Guard, [&] { return !Requests.empty(); });
  Busy = true;
  Frame F = std::move(Requests.front().Request);
  Cancelled = Requests.front().Cancelled;
  Requests.pop_front();
  return F;
}

/// Before the reply: what the client asks next need not wait.
void Supervisor::rest() {
  std::lock_guard Guard(Lock);
  Busy = false;
}

int Supervisor::run() {
  sigset_t Set;
  sigemptyset(&Set);
  sigaddset(&Set, SIGTERM);
  sigaddset(&Set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &Set, nullptr);
  // The client's to handle: Ctrl-C, and what a batch system sends to all
  // processes of a job before its time is up.
  std::signal(SIGINT, SIG_IGN);
  std::signal(SIGUSR1, SIG_IGN);
  std::thread([this] { waitForSignals(); }).detach();
  std::thread([this] { readRequests(); }).detach();
  for (;;) {
    Frame Request = next();
    Frame Reply;
    Reply.Id = Request.Id;
    Reply.Json = Work.answer(Request.Id, Request.Json);
    if (All.ended()) // what was answered is that a child was killed
      end(1);
    rest();
    if (Error E = Link.send(Reply))
      end(1);
  }
}

} // namespace

int supervise(const SessionOptions &Options) {
  const int In = fcntl(0, F_DUPFD_CLOEXEC, 10);
  const int Out = fcntl(1, F_DUPFD_CLOEXEC, 10);
  const int Null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (In < 0 || Out < 0 || Null < 0) {
    std::fprintf(stderr, "r3-supervisor: is started by r3, which talks to it "
                         "on its standard input and output\n");
    return 2;
  }
  dup2(Null, 0);
  dup2(2, 1);
  Channel Link(In, Out);
  if (Error E = Link.greet(buildId())) {
    std::fprintf(stderr, "r3-supervisor: %s\n", E.message().c_str());
    return 1;
  }
  if (Error E = Link.expectGreeting(buildId(), GreetingMs)) {
    std::fprintf(stderr, "r3-supervisor: %s\n", E.message().c_str());
    return E.code() == ErrorCode::Stale ? 3 : 2;
  }
  return Supervisor(Options, std::move(Link)).run();
}

} // namespace r3::replay
