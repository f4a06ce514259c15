// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nothing is ever recorded into the legacy default stream for this (see
// Device::recordLegacy): it would tie the program's streams together, and a
// kernel that waits for another stream's would then wait for ever.
#include "runtime/record/Streams.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace r3::record {

void Streams::created(StreamHandle Stream, Device *Owner) {
  std::lock_guard Guard(Lock);
  Known[Stream] = Owner;
}

void Streams::destroyed(StreamHandle Stream) {
  std::lock_guard Guard(Lock);
  Known.erase(Stream);
}

Expected<EventHandle> Streams::event(Device &D) {
  auto &Free = Spare[&D];
  if (Free.empty())
    return D.createEvent(/*Timing=*/false);
  EventHandle E = Free.back();
  Free.pop_back();
  return E;
}

void Streams::usedOwnStream(Device &D) {
  // One event a thread and device, recorded again after each call; it stays
  // when the thread ends, since its work may still run.
  thread_local std::vector<std::shared_ptr<OwnStream>> Mine;
  std::lock_guard Guard(Lock);
  std::erase_if(Mine, [](const auto &O) { return !O->D; });
  auto It = std::find_if(Mine.begin(), Mine.end(),
                         [&](const auto &O) { return O->D == &D; });
  if (It == Mine.end()) {
    Expected<EventHandle> E = event(D);
    if (!E)
      return;
    Mine.push_back(std::make_shared<OwnStream>(OwnStream{&D, *E}));
    Own.push_back(Mine.back());
    It = std::prev(Mine.end());
  }
  // Where this fails the stream is as it was: quietness is then found by the
  // second digests alone.
  (void)D.record((*It)->Event, PerThreadStream);
}

void Streams::forget(Device &D) {
  std::lock_guard Guard(Lock);
  for (auto &O : Own)
    if (O->D == &D)
      O->D = nullptr;
  std::erase_if(Own, [](const auto &O) { return !O->D; });
  std::erase_if(Known, [&](const auto &K) { return K.second == &D; });
  Spare.erase(&D);
}

Error Streams::mark(Device &D, StreamHandle Launch,
                    std::vector<EventHandle> &Events) {
  auto Add = [&](auto Record) -> Error {
    Expected<EventHandle> E = event(D);
    if (!E)
      return E.error();
    Events.push_back(*E);
    return Record(*E);
  };
  if (Error E = Add([&](EventHandle Event) { return D.recordLegacy(Event); }))
    return E;
  bool LaunchIsKnown = Launch == nullptr || Launch == StreamHandle(1);
  for (auto [Stream, Owner] : Known) {
    LaunchIsKnown |= Stream == Launch;
    if ((Owner && Owner != &D) || D.isCapturing(Stream))
      continue;
    if (Error E =
            Add([&](EventHandle Event) { return D.record(Event, Stream); }))
      return E;
  }
  if (LaunchIsKnown)
    return Error::success();
  return Add([&](EventHandle Event) { return D.record(Event, Launch); });
}

Error Streams::waitUntilQuiet(Device &D, StreamHandle Launch,
                              uint64_t TimeoutMs) {
  std::lock_guard Guard(Lock);
  auto Deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(TimeoutMs);
  auto Left = [&] {
    auto Rest = std::chrono::duration_cast<std::chrono::milliseconds>(
        Deadline - std::chrono::steady_clock::now());
    return uint64_t(std::max<int64_t>(Rest.count(), 0));
  };
  std::vector<EventHandle> Events;
  Error Result = mark(D, Launch, Events);
  for (size_t I = 0; I < Events.size() && !Result; ++I)
    Result = D.waitFor(Events[I], Left());
  for (auto &O : Own)
    if (O->D == &D && !Result)
      Result = D.waitFor(O->Event, Left());
  // An event may be recorded again while an earlier record is pending.
  auto &Free = Spare[&D];
  Free.insert(Free.end(), Events.begin(), Events.end());
  return Result;
}

} // namespace r3::record
