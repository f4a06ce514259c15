// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers are detached and live as long as the process, like the engine.
#include "runtime/device/cpu/Pool.h"

#include <algorithm>
#include <atomic>

namespace r3::cpu {

void Pool::start() {
  Started = true;
  for (unsigned I = 1; I < Threads; ++I)
    std::thread([this] { help(); }).detach();
}

void Pool::help() {
  std::unique_lock Lock(Mutex);
  while (true) {
    Offered.wait(Lock, [this] { return !Jobs.empty(); });
    Job &J = *Jobs.front();
    if (--J.Tickets == 0)
      Jobs.pop_front();
    ++J.Running;
    unsigned Number = J.Next++;
    Lock.unlock();
    (*J.Work)(Number);
    Lock.lock();
    if (--J.Running == 0)
      Left.notify_all();
  }
}

void Pool::run(uint64_t Wanted, const std::function<void(unsigned)> &Work) {
  uint64_t Helpers = std::min<uint64_t>(Wanted, Threads);
  if (Helpers <= 1) {
    Work(0);
    return;
  }
  Job J{&Work, Helpers - 1};
  {
    std::lock_guard Lock(Mutex);
    if (!Started)
      start();
    Jobs.push_back(&J);
  }
  if (Helpers == 2)
    Offered.notify_one();
  else
    Offered.notify_all();
  Work(0);
  std::unique_lock Lock(Mutex);
  if (auto It = std::find(Jobs.begin(), Jobs.end(), &J); It != Jobs.end())
    Jobs.erase(It);
  Left.wait(Lock, [&] { return J.Running == 0; });
}

void Pool::each(uint64_t Count, const std::function<void(uint64_t)> &Do) {
  std::atomic<uint64_t> Next{0};
  run(Count, [&](unsigned) {
    for (uint64_t I; (I = Next.fetch_add(1)) < Count;)
      Do(I);
  });
}

} // namespace r3::cpu
