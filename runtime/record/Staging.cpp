// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where pinned memory is not to be had, acquire() answers null and the copy
// waits for a slab; the first slab falls back to ordinary memory (slower, but
// it works).
#include "runtime/record/Staging.h"

#include "runtime/support/Files.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <pthread.h>
#include <signal.h>

namespace r3::record {

/// "MemAvailable:  123 kB"; 0 where the kernel does not tell.
static uint64_t availableBytes() {
  Expected<std::string> Text = readTextFile("/proc/meminfo");
  constexpr std::string_view Key = "MemAvailable:";
  size_t At = Text ? Text->find(Key) : std::string::npos;
  if (At == std::string::npos)
    return 0;
  return std::strtoull(Text->c_str() + At + Key.size(), nullptr, 10) * 1024;
}

uint64_t stagingLimit() {
  return std::clamp<uint64_t>(availableBytes() / 4, 2 * Staging::SlabBytes,
                              8ull << 30);
}

Staging::Staging(Device &D, uint64_t LimitBytes)
    : D(D), Limit(std::max<uint64_t>(2, LimitBytes / SlabBytes)) {}

Staging::~Staging() { stop(); }

void Staging::stop() {
  {
    std::lock_guard Guard(Lock);
    Stop = true;
    Changed.notify_all();
  }
  if (Maker.joinable())
    Maker.join();
}

void Staging::prepare(uint64_t Bytes) {
  std::lock_guard Guard(Lock);
  Target = std::max(Target, std::min(Limit, Bytes / SlabBytes + 1));
  if (Made >= Target || CannotPin || Stop)
    return;
  if (!Maker.joinable())
    Maker = std::thread([this] { work(); });
  Changed.notify_all();
}

void Staging::work() {
  sigset_t All;
  sigfillset(&All);
  pthread_sigmask(SIG_SETMASK, &All, nullptr);
  std::unique_lock Guard(Lock);
  while (true) {
    Changed.wait(Guard, [&] { return Stop || (Made < Target && !CannotPin); });
    if (Stop)
      return;
    ++Made;
    Guard.unlock();
    Slab *S = make();
    Guard.lock();
    if (!S) {
      --Made;
      CannotPin = true;
      continue;
    }
    Free.push_back(S);
    Changed.notify_all();
  }
}

Staging::Slab *Staging::make() {
  Expected<void *> Memory = D.allocateHost(SlabBytes);
  if (!Memory)
    return nullptr;
  std::lock_guard Guard(Lock);
  return add(*Memory, /*Pinned=*/true);
}

Staging::Slab *Staging::add(void *Memory, bool Pinned) {
  Slabs.push_back(
      std::make_unique<Slab>(Slab{static_cast<uint8_t *>(Memory), Pinned}));
  return Slabs.back().get();
}

Staging::Slab *Staging::acquire() {
  std::unique_lock Guard(Lock);
  if (!Free.empty()) {
    Slab *S = Free.back();
    Free.pop_back();
    return S;
  }
  if (Made >= Limit || (CannotPin && Made))
    return nullptr;
  ++Made;
  bool Pin = !CannotPin;
  Guard.unlock();
  Slab *S = Pin ? make() : nullptr;
  if (S)
    return S;
  Guard.lock();
  CannotPin = true;
  if (Made > 1) {
    --Made;
    return nullptr;
  }
  void *Memory = std::malloc(SlabBytes);
  return Memory ? add(Memory, /*Pinned=*/false) : nullptr;
}

void Staging::release(Slab *S) {
  std::lock_guard Guard(Lock);
  Free.push_back(S);
  Changed.notify_all();
}

bool Staging::waitForRelease(uint64_t TimeoutMs) {
  std::unique_lock Guard(Lock);
  return Changed.wait_for(Guard, std::chrono::milliseconds(TimeoutMs),
                          [&] { return !Free.empty(); });
}

void Staging::releaseAll() {
  stop();
  std::lock_guard Guard(Lock);
  for (Slab *S : Free) {
    if (S->Pinned)
      (void)D.freeHost(S->Data);
    else
      std::free(S->Data);
    --Made;
  }
  Free.clear();
}

} // namespace r3::record
