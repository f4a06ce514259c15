// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order between streams: work of the legacy stream depends on everything that
// blocking streams had before it, and work of blocking streams on everything
// that the legacy stream had. Dependencies point to earlier work only, so they
// cannot form a circle.
#include "runtime/device/cpu/Streams.h"

#include <thread>

namespace r3::cpu {

// --- One stream.

void Stream::submit(std::function<void()> Work,
                    std::vector<Dependency> Dependencies, bool Inline) {
  std::unique_lock Lock(Mutex);
  ++Submitted;
  if (Inline && !Running && Tasks.empty() && Dependencies.empty()) {
    Running = true;
    Lock.unlock();
    Work();
    Lock.lock();
    finish();
    return;
  }
  Tasks.push_back({std::move(Work), std::move(Dependencies)});
  if (!HasThread) {
    HasThread = true;
    std::thread([Self = shared_from_this()] { Self->serve(); }).detach();
  }
  Changed.notify_all();
}

void Stream::finish() {
  Running = false;
  ++Completed;
  Changed.notify_all();
}

void Stream::serve() {
  std::unique_lock Lock(Mutex);
  while (true) {
    Changed.wait(Lock,
                 [this] { return !Running && (!Tasks.empty() || Closed); });
    if (Tasks.empty())
      return;
    Running = true;
    Task Next = std::move(Tasks.front());
    Tasks.pop_front();
    Lock.unlock();
    for (Dependency &D : Next.Dependencies)
      D.On->waitFor(D.Count);
    Next.Work();
    Next = Task();
    Lock.lock();
    finish();
  }
}

uint64_t Stream::submitted() const {
  std::lock_guard Lock(Mutex);
  return Submitted;
}

bool Stream::isComplete(uint64_t Count) const {
  std::lock_guard Lock(Mutex);
  return Completed >= Count;
}

void Stream::waitFor(uint64_t Count) {
  std::unique_lock Lock(Mutex);
  Changed.wait(Lock, [&] { return Completed >= Count; });
}

void Stream::close() {
  std::lock_guard Lock(Mutex);
  Closed = true;
  Changed.notify_all();
}

// --- Marks.

void Mark::set() {
  std::lock_guard Lock(Mutex);
  When = std::chrono::steady_clock::now();
  Set = true;
  Changed.notify_all();
}

bool Mark::isSet() const {
  std::lock_guard Lock(Mutex);
  return Set;
}

void Mark::wait() const {
  std::unique_lock Lock(Mutex);
  Changed.wait(Lock, [this] { return Set; });
}

// --- The set.

StreamSet::StreamSet()
    : Legacy(std::make_shared<Stream>(false, 0)),
      Observer(std::make_shared<Stream>(true, 0)) {}

std::shared_ptr<Stream> StreamSet::create(bool NonBlocking, int Priority) {
  auto S = std::make_shared<Stream>(NonBlocking, Priority);
  std::lock_guard Lock(Mutex);
  Live.insert(S);
  return S;
}

namespace {

/// The calling thread's default stream; goes with the thread.
struct ThreadStream {
  std::shared_ptr<Stream> S;
  std::function<void()> Forget;
  ~ThreadStream() {
    if (!S)
      return;
    S->waitFor(S->submitted());
    Forget();
  }
};

thread_local ThreadStream OfThread;

} // namespace

std::shared_ptr<Stream> StreamSet::ofThread() const {
  if (!OfThread.S) {
    OfThread.S = std::make_shared<Stream>(false, 0);
    auto *Set = const_cast<StreamSet *>(this);
    OfThread.Forget = [Set, Handle = OfThread.S.get()] {
      Set->destroy(Handle);
    };
    std::lock_guard Lock(Mutex);
    Live.insert(OfThread.S);
  }
  return OfThread.S;
}

std::shared_ptr<Stream> StreamSet::find(void *Handle) const {
  auto Number = reinterpret_cast<uintptr_t>(Handle);
  if (Number <= 1)
    return Legacy;
  if (Number == 2)
    return ofThread();
  std::lock_guard Lock(Mutex);
  for (const std::shared_ptr<Stream> &S : Live)
    if (S.get() == Handle)
      return S;
  return nullptr;
}

bool StreamSet::destroy(void *Handle) {
  std::lock_guard Lock(Mutex);
  for (const std::shared_ptr<Stream> &S : Live)
    if (S.get() == Handle) {
      S->close();
      Live.erase(S);
      return true;
    }
  return false;
}

/// Work of blocking streams that is not done yet.
std::vector<Stream::Dependency> StreamSet::blockingWork() const {
  std::vector<Stream::Dependency> Result;
  for (const std::shared_ptr<Stream> &S : Live)
    if (uint64_t Count = S->submitted();
        !S->NonBlocking && !S->isComplete(Count))
      Result.push_back({S, Count});
  return Result;
}

void StreamSet::submit(Stream &To, std::function<void()> Work, bool Inline) {
  std::unique_lock Lock(Mutex);
  std::vector<Stream::Dependency> Dependencies;
  if (&To == Legacy.get()) {
    Dependencies = blockingWork();
  } else if (!To.NonBlocking) {
    uint64_t Count = Legacy->submitted();
    if (!Legacy->isComplete(Count))
      Dependencies.push_back({Legacy, Count});
  }
  if (!Inline || !Dependencies.empty()) {
    To.submit(std::move(Work), std::move(Dependencies), false);
    return;
  }
  // Inline work must not run under the lock. A thread that submits to this
  // stream in between has no order with us anyway.
  auto Keep = To.shared_from_this();
  Lock.unlock();
  Keep->submit(std::move(Work), {}, true);
}

void StreamSet::waitForAll() {
  std::vector<Stream::Dependency> All;
  {
    std::lock_guard Lock(Mutex);
    All.push_back({Legacy, Legacy->submitted()});
    for (const std::shared_ptr<Stream> &S : Live)
      All.push_back({S, S->submitted()});
  }
  for (Stream::Dependency &D : All)
    D.On->waitFor(D.Count);
}

bool StreamSet::isIdle() const {
  std::lock_guard Lock(Mutex);
  for (const std::shared_ptr<Stream> &S : Live)
    if (!S->isComplete(S->submitted()))
      return false;
  return Legacy->isComplete(Legacy->submitted());
}

void StreamSet::afterAll(std::function<void()> Work) {
  std::lock_guard Lock(Mutex);
  std::vector<Stream::Dependency> Dependencies = blockingWork();
  Dependencies.push_back({Legacy, Legacy->submitted()});
  Observer->submit(std::move(Work), std::move(Dependencies), false);
}

} // namespace r3::cpu
