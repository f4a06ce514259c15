// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Jobs are handed out by a counter; a job larger than a buffer goes in pieces.
#include "wrapper/replay/Copier.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace r3::replay {

namespace {
constexpr uint64_t BufferBytes = 4ull << 20;
constexpr uint64_t WaitMs = 60000;
constexpr size_t MostLanes = 8;
/// Below this a second thread does not pay.
constexpr uint64_t LaneBytes = 16ull << 20;
} // namespace

struct Copier::Lane {
  explicit Lane(Device &D) : D(D) {}
  ~Lane() {
    for (Half &H : Halves) {
      if (H.Event)
        (void)D.destroyEvent(H.Event);
      if (H.Buffer)
        (void)D.freeHost(H.Buffer);
    }
    if (Stream)
      (void)D.destroyStream(Stream);
  }

  Error open() {
    auto S = D.createStream();
    if (!S)
      return S.error();
    Stream = *S;
    for (Half &H : Halves) {
      auto Buffer = D.allocateHost(BufferBytes);
      if (!Buffer)
        return Buffer.error();
      H.Buffer = static_cast<uint8_t *>(*Buffer);
      auto Event = D.createEvent(/*Timing=*/false);
      if (!Event)
        return Event.error();
      H.Event = *Event;
    }
    return {};
  }

  /// Gives the other half, empty and no longer read by the device.
  Error turn() {
    if (Halves[Now].Used) {
      if (Error E = D.record(Halves[Now].Event, Stream))
        return E;
      Halves[Now].Busy = true;
    }
    Now ^= 1;
    Half &H = Halves[Now];
    if (H.Busy)
      if (Error E = D.waitFor(H.Event, WaitMs))
        return E;
    H.Busy = false;
    H.Used = 0;
    return {};
  }

  Error put(const CopyJob &Job) {
    for (uint64_t Done = 0; Done < Job.Size;) {
      if (Halves[Now].Used == BufferBytes)
        if (Error E = turn())
          return E;
      Half &H = Halves[Now];
      const uint64_t Piece = std::min(Job.Size - Done, BufferBytes - H.Used);
      uint8_t *At = H.Buffer + H.Used;
      if (Error E = readAt(Job.Fd, At, Piece, Job.FileOffset + Done))
        return E;
      if (Error E = D.copyToDevice(Job.To + Done, At, Piece, Stream))
        return E;
      H.Used += Piece;
      Done += Piece;
    }
    return {};
  }

  Error flush() {
    Error E = D.synchronize(Stream, WaitMs);
    for (Half &H : Halves)
      H.Busy = false, H.Used = 0;
    return E;
  }

  struct Half {
    uint8_t *Buffer = nullptr;
    EventHandle Event = nullptr;
    uint64_t Used = 0;
    bool Busy = false;
  };
  Device &D;
  StreamHandle Stream = nullptr;
  Half Halves[2];
  unsigned Now = 0;
};

Copier::Copier(Device &D) : D(D) {}
Copier::~Copier() = default;

Expected<Copier::Lane *> Copier::lane(size_t Index) {
  while (Lanes.size() <= Index) {
    auto Fresh = std::make_unique<Lane>(D);
    if (Error E = Fresh->open())
      return E;
    Lanes.push_back(std::move(Fresh));
  }
  return Lanes[Index].get();
}

Error Copier::copy(std::span<const CopyJob> Jobs) {
  uint64_t Bytes = 0;
  for (const CopyJob &Job : Jobs)
    Bytes += Job.Size;
  const size_t Count = std::clamp<size_t>(
      Bytes / LaneBytes, 1,
      std::min<size_t>(MostLanes,
                       std::max(1u, std::thread::hardware_concurrency())));
  std::vector<Lane *> Own;
  for (size_t I = 0; I < Count; ++I) {
    auto L = lane(I);
    if (!L)
      return L.error();
    Own.push_back(*L);
  }
  std::atomic<size_t> Next{0};
  std::mutex Lock;
  Error First;
  auto Work = [&](Lane &L) {
    Error E;
    for (size_t I; !E && (I = Next++) < Jobs.size();)
      E = L.put(Jobs[I]);
    if (Error Late = L.flush(); !E)
      E = Late;
    if (!E)
      return;
    Next = Jobs.size();
    std::lock_guard Guard(Lock);
    if (!First)
      First = E;
  };
  std::vector<std::thread> Threads;
  for (size_t I = 1; I < Count; ++I)
    Threads.emplace_back([&, I] { Work(*Own[I]); });
  Work(*Own[0]);
  for (std::thread &T : Threads)
    T.join();
  return First;
}

Error readAt(int Fd, void *To, uint64_t Size, uint64_t Offset) {
  auto *At = static_cast<uint8_t *>(To);
  while (Size) {
    const ssize_t Got = pread(Fd, At, Size, static_cast<off_t>(Offset));
    if (Got < 0 && errno == EINTR)
      continue;
    if (Got < 0)
      return fail(ErrorCode::Failed, "reading recorded memory: %s",
                  std::strerror(errno));
    if (Got == 0)
      return fail(ErrorCode::Damaged,
                  "a pack ends at offset %llu, %llu bytes more were recorded",
                  static_cast<unsigned long long>(Offset),
                  static_cast<unsigned long long>(Size));
    At += Got;
    Offset += static_cast<uint64_t>(Got);
    Size -= static_cast<uint64_t>(Got);
  }
  return {};
}

Error copyBetweenFiles(int From, uint64_t FromOffset, int To, uint64_t ToOffset,
                       uint64_t Size) {
  std::vector<uint8_t> Buffer(std::min(Size, BufferBytes));
  for (uint64_t Done = 0; Done < Size;) {
    const uint64_t Piece = std::min<uint64_t>(Size - Done, Buffer.size());
    if (Error E = readAt(From, Buffer.data(), Piece, FromOffset + Done))
      return E;
    for (uint64_t Put = 0; Put < Piece;) {
      const ssize_t Wrote = pwrite(To, Buffer.data() + Put, Piece - Put,
                                   static_cast<off_t>(ToOffset + Done + Put));
      if (Wrote < 0 && errno == EINTR)
        continue;
      if (Wrote <= 0)
        return fail(ErrorCode::NoSpace, "keeping recorded memory: %s",
                    std::strerror(errno));
      Put += static_cast<uint64_t>(Wrote);
    }
    Done += Piece;
  }
  return {};
}

} // namespace r3::replay
