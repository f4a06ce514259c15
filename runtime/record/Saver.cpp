// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One queue a writer. The end of a record is queued at every writer that got
// some of it; they meet there twice: once to know whether all writes went
// well, once to know whether all syncs did. Queues are in the same order, so
// two meetings cannot wait for each other.
#include "runtime/record/Saver.h"

#include "runtime/support/StoreLock.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <thread>

namespace r3::record {

namespace {

/// Records up to this many bytes go to one writer.
constexpr uint64_t SmallRecordBytes = 32ull << 20;

/// Where the participants of one record meet.
struct Meeting {
  Meeting(unsigned Participants, bool Commit, Saver::Ending End)
      : Participants(Participants), Commit(Commit), End(std::move(End)) {}

  const unsigned Participants;
  const bool Commit;
  const Saver::Ending End;
  std::mutex Lock;
  std::condition_variable Changed;
  unsigned Arrived[2] = {0, 0};
  Error Failure;

  /// Waits for the others; false where one of them failed by then. Last:
  /// whether the caller came last.
  bool arrive(unsigned Stage, Error Mine, bool &Last) {
    std::unique_lock Guard(Lock);
    if (Mine && !Failure)
      Failure = std::move(Mine);
    Last = ++Arrived[Stage] == Participants;
    Changed.notify_all();
    // What follows depends on all, later records too: they may refer to
    // chunks of this one.
    Changed.wait(Guard, [&] { return Arrived[Stage] == Participants; });
    return !Failure;
  }
};

struct Job {
  std::vector<Piece> Pieces;
  std::function<void()> Done;
  std::shared_ptr<Meeting> End;
};

void blockSignals() {
  sigset_t All;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, nullptr);
}

} // namespace

struct Saver::State {
  State(Store S, StoreLock InUse, unsigned Count)
      : Files(std::move(S)), InUse(std::move(InUse)), Writers(Count) {}

  struct Writer {
    std::thread Thread;
    std::mutex Lock;
    std::condition_variable Changed;
    std::deque<Job> Queue;
    bool Busy = false;
    bool Stop = false;
    bool TakesPart = false; // in the record in the making
    std::unique_ptr<PackWriter> Pack;
    Error Failure; // of the record being written
  };

  Store Files;
  StoreLock InUse; // what is found and written here stays
  std::unique_ptr<PackSet> Old;
  std::vector<Writer> Writers;
  std::atomic<bool> Broken{false};

  // The record in the making.
  std::unordered_set<Digest> Queued; // by records that are not given up
  std::vector<Digest> Fresh;         // by this one
  uint64_t FreshBytes = 0;
  std::atomic<uint64_t> TotalBytes{0};
  unsigned Next = 0;

  void start(Writer &W);
  void put(Writer &W, Job J);
  void run(Writer &W);
  void save(Writer &W, const std::vector<Piece> &Pieces);
  void meet(Writer &W, Meeting &M);
};

Saver::Saver(std::unique_ptr<State> S) : S(std::move(S)) {}

Expected<std::unique_ptr<Saver>> Saver::open(const std::string &Path,
                                             unsigned Writers) {
  std::unique_ptr<State> S;
  Error Failure;
  std::thread Opener([&] {
    blockSignals();
    Expected<Store> Files = Store::open(Path, /*Create=*/true);
    if (!Files) {
      Failure = Files.error();
      return;
    }
    Expected<StoreLock> InUse = StoreLock::share(*Files);
    if (!InUse) {
      Failure = InUse.error();
      return;
    }
    Expected<std::unique_ptr<PackSet>> Old =
        PackSet::open(Files->packDirectory());
    S = std::make_unique<State>(*Files, std::move(*InUse),
                                std::max(1u, Writers));
    if (Old)
      S->Old = std::move(*Old);
    // The first pack now: a store that takes no data is known at once.
    auto Pack = PackWriter::create(Files->packDirectory());
    if (!Pack)
      Failure = Pack.error();
    else
      S->Writers[0].Pack = std::move(*Pack);
  });
  Opener.join();
  if (Failure)
    return Failure;
  return std::unique_ptr<Saver>(new Saver(std::move(S)));
}

Saver::~Saver() { close(); }

void Saver::close() {
  for (State::Writer &W : S->Writers) {
    {
      std::lock_guard Guard(W.Lock);
      W.Stop = true;
      W.Changed.notify_all();
    }
    if (W.Thread.joinable())
      W.Thread.join();
    W.Pack.reset();
  }
}

const Store &Saver::store() const { return S->Files; }
bool Saver::broken() const { return S->Broken; }
uint64_t Saver::bytesQueued() const { return S->TotalBytes; }

void Saver::State::put(Writer &W, Job J) {
  std::lock_guard Guard(W.Lock);
  if (!W.Thread.joinable())
    W.Thread = std::thread([this, &W] { run(W); });
  W.Queue.push_back(std::move(J));
  W.Changed.notify_all();
}

void Saver::State::run(Writer &W) {
  blockSignals();
  while (true) {
    std::unique_lock Guard(W.Lock);
    W.Busy = false;
    W.Changed.notify_all();
    W.Changed.wait(Guard, [&] { return W.Stop || !W.Queue.empty(); });
    if (W.Queue.empty())
      return;
    Job J = std::move(W.Queue.front());
    W.Queue.pop_front();
    W.Busy = true;
    Guard.unlock();
    save(W, J.Pieces);
    if (J.Done)
      J.Done();
    if (J.End)
      meet(W, *J.End);
  }
}

void Saver::State::save(Writer &W, const std::vector<Piece> &Pieces) {
  if (Pieces.empty() || W.Failure || Broken)
    return;
  if (!W.Pack) {
    auto Pack = PackWriter::create(Files.packDirectory());
    if (!Pack) {
      W.Failure = Pack.error();
      return;
    }
    W.Pack = std::move(*Pack);
  }
  for (const Piece &P : Pieces)
    if (Error E = W.Pack->add(P.Name, {P.Data, P.Size})) {
      W.Failure = E;
      return;
    }
}

void Saver::State::meet(Writer &W, Meeting &M) {
  Error Mine = W.Failure;
  W.Failure = {};
  if (!Mine && M.Commit && Broken)
    Mine = Error(ErrorCode::Failed, "an earlier write failed");
  bool Last = false;
  bool Good = M.arrive(0, Mine, Last) && M.Commit;
  Error Second;
  if (Good && W.Pack)
    Second = W.Pack->sync();
  else if (W.Pack)
    // What cannot be rolled back is unreachable in the pack, and harmless.
    (void)W.Pack->rollback();
  bool Lost = !M.arrive(1, Second, Last);
  if (!Lost && Last && M.Commit && M.End.Publish)
    if (Error E = M.End.Publish()) {
      M.Failure = E;
      Lost = true;
    }
  if (Lost && !Broken.exchange(true) && M.End.Failed)
    M.End.Failed(M.Failure);
}

Error Saver::runOnWriter(const std::function<Error()> &Work) {
  std::mutex Lock;
  std::condition_variable Changed;
  bool Ready = false;
  Error Result;
  Job J;
  J.Done = [&] {
    Error E = Work();
    std::lock_guard Guard(Lock);
    Result = std::move(E);
    Ready = true;
    Changed.notify_all();
  };
  S->put(S->Writers[0], std::move(J));
  std::unique_lock Guard(Lock);
  Changed.wait(Guard, [&] { return Ready; });
  return Result;
}

void Saver::begin() {
  S->Fresh.clear();
  S->FreshBytes = 0;
  for (State::Writer &W : S->Writers)
    W.TakesPart = false;
}

bool Saver::knows(const Digest &Name) const {
  return S->Queued.count(Name) || (S->Old && S->Old->contains(Name));
}

void Saver::write(std::vector<Piece> Pieces, std::function<void()> Done) {
  uint64_t Bytes = 0;
  for (const Piece &P : Pieces) {
    Bytes += P.Size;
    if (S->Queued.insert(P.Name).second)
      S->Fresh.push_back(P.Name);
  }
  S->FreshBytes += Bytes;
  S->TotalBytes += Bytes;
  if (S->FreshBytes > SmallRecordBytes)
    S->Next = (S->Next + 1) % S->Writers.size();
  else
    S->Next = 0;
  State::Writer &W = S->Writers[S->Next];
  W.TakesPart = true;
  S->put(W, {std::move(Pieces), std::move(Done), nullptr});
}

void Saver::end(bool Commit, Ending End) {
  unsigned Participants = 0;
  for (State::Writer &W : S->Writers)
    Participants += W.TakesPart;
  if (!Participants) {
    S->Writers[0].TakesPart = true;
    Participants = 1;
  }
  auto M = std::make_shared<Meeting>(Participants, Commit, std::move(End));
  for (State::Writer &W : S->Writers)
    if (W.TakesPart)
      S->put(W, {{}, nullptr, M});
}

void Saver::abandon(std::function<void(const Error &)> Failed) {
  for (const Digest &Name : S->Fresh)
    S->Queued.erase(Name);
  S->TotalBytes -= S->FreshBytes;
  if (!S->Fresh.empty())
    end(/*Commit=*/false, {nullptr, std::move(Failed)});
}

void Saver::finish(Ending End) { end(/*Commit=*/true, std::move(End)); }

void Saver::drain() {
  for (State::Writer &W : S->Writers) {
    std::unique_lock Guard(W.Lock);
    W.Changed.wait(Guard, [&] { return W.Queue.empty() && !W.Busy; });
  }
}

} // namespace r3::record
