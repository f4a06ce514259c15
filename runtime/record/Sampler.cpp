// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pairs are reused; those of a stream that never completes stay in the queue
// and bound how many are under way.
#include "runtime/record/Sampler.h"

namespace r3::record {

static constexpr size_t MaxPending = 256;

Sampler::Pair Sampler::begin(StreamHandle Stream) {
  Pair P;
  {
    std::lock_guard Guard(Lock);
    if (Queue.size() >= MaxPending)
      return {};
    if (!Free.empty()) {
      P = Free.back();
      Free.pop_back();
    }
  }
  if (!P) {
    Expected<EventHandle> Begin = D.createEvent(/*Timing=*/true);
    if (!Begin)
      return {};
    Expected<EventHandle> End = D.createEvent(/*Timing=*/true);
    if (!End) {
      (void)D.destroyEvent(*Begin);
      return {};
    }
    P = {*Begin, *End};
  }
  if (D.record(P.Begin, Stream)) {
    cancel(P);
    return {};
  }
  return P;
}

bool Sampler::end(Pair P, StreamHandle Stream,
                  std::function<void(uint64_t)> Report) {
  if (D.record(P.End, Stream)) {
    cancel(P);
    return false;
  }
  if (!Report)
    return true;
  std::lock_guard Guard(Lock);
  Queue.push_back({P, std::move(Report)});
  Pending = Queue.size();
  return true;
}

void Sampler::cancel(Pair P) {
  std::lock_guard Guard(Lock);
  Free.push_back(P);
}

uint64_t Sampler::read(Pair P) {
  Expected<double> Ms = D.elapsedMs(P.Begin, P.End);
  cancel(P);
  return Ms && *Ms > 0 ? uint64_t(*Ms * 1e6) : 0;
}

void Sampler::collect() {
  std::unique_lock Guard(Lock, std::try_to_lock);
  if (!Guard)
    return;
  std::vector<std::pair<std::function<void(uint64_t)>, uint64_t>> Done;
  // Launches of one stream complete in order; others may overtake, so a few
  // are looked at behind one that has not completed.
  unsigned Tries = 4;
  for (auto It = Queue.begin(); It != Queue.end() && Tries;) {
    Expected<bool> Complete = D.query(It->Events.End);
    if (Complete && !*Complete) {
      --Tries;
      ++It;
      continue;
    }
    Expected<double> Ms(0.0);
    if (Complete)
      Ms = D.elapsedMs(It->Events.Begin, It->Events.End);
    if (Complete && Ms && *Ms > 0)
      Done.push_back({std::move(It->Report), uint64_t(*Ms * 1e6)});
    Free.push_back(It->Events);
    It = Queue.erase(It);
  }
  Pending = Queue.size();
  Guard.unlock();
  for (auto &[Report, Ns] : Done)
    Report(Ns);
}

void Sampler::releaseAll() {
  std::lock_guard Guard(Lock);
  for (Waiting &W : Queue)
    Free.push_back(W.Events);
  Queue.clear();
  Pending = 0;
  for (Pair P : Free) {
    (void)D.destroyEvent(P.Begin);
    (void)D.destroyEvent(P.End);
  }
  Free.clear();
}

} // namespace r3::record
