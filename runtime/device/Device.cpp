// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The helpers of Device that are the same on all devices: waiting by polling,
// and digests of chunks from the device's leaf hashes.
#include "runtime/device/Device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace r3 {

namespace {

using Clock = std::chrono::steady_clock;

/// Short waits stay on the processor, long ones leave it to others.
void pause(unsigned Round) {
  if (Round < 64)
    std::this_thread::yield();
  else
    std::this_thread::sleep_for(
        std::chrono::microseconds(std::min(Round - 60, 500u)));
}

} // namespace

Error Device::waitFor(EventHandle Event, uint64_t TimeoutMs) {
  Clock::time_point Deadline =
      Clock::now() + std::chrono::milliseconds(TimeoutMs);
  for (unsigned Round = 0;; ++Round) {
    Expected<bool> Done = query(Event);
    if (!Done)
      return Done.error();
    if (*Done)
      return Error::success();
    if (Clock::now() >= Deadline)
      return fail(ErrorCode::Timeout, "the device is not quiet after %llu ms",
                  static_cast<unsigned long long>(TimeoutMs));
    pause(Round);
  }
}

void Device::release(uint32_t *Word, uint32_t Value) {
  std::atomic_ref<uint32_t>(*Word).store(Value, std::memory_order_release);
}

Error Device::synchronize(StreamHandle Stream, uint64_t TimeoutMs) {
  Expected<EventHandle> Event = createEvent(/*Timing=*/false);
  if (!Event)
    return Event.error();
  Error Result = record(*Event, Stream);
  if (!Result)
    Result = waitFor(*Event, TimeoutMs);
  Error Destroyed = destroyEvent(*Event);
  return Result ? Result : Destroyed;
}

Expected<std::vector<Digest>> Device::chunkDigests(Address Where, uint64_t Size,
                                                   StreamHandle Stream,
                                                   uint64_t TimeoutMs) {
  std::vector<Digest> Result;
  if (!Size)
    return Result;
  size_t Leaves = (Size + LeafBytes - 1) / LeafBytes;
  Expected<void *> Buffer = allocateHost(Leaves * sizeof(LeafHash));
  if (!Buffer)
    return Buffer.error();
  auto *Hashes = static_cast<LeafHash *>(*Buffer);
  Error Failure = hashLeaves(Where, Size, Hashes, Stream);
  if (!Failure)
    Failure = synchronize(Stream, TimeoutMs);
  // After a timeout the device may still write into the buffer: it is lost.
  if (Failure && Failure.code() == ErrorCode::Timeout)
    return Failure;
  constexpr size_t PerChunk = ChunkBytes / LeafBytes;
  for (size_t At = 0; !Failure && At < Leaves; At += PerChunk)
    Result.push_back(
        combineLeaves({Hashes + At, std::min(PerChunk, Leaves - At)}));
  Error Freed = freeHost(*Buffer);
  if (Failure)
    return Failure;
  if (Freed)
    return Freed;
  return Result;
}

} // namespace r3
