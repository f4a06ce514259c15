// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device addresses that follow each other are copied in one call, up to the
// end of a slab; a chunk never lies in two slabs.
#include "runtime/record/Memory.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace r3::record {

/// Leaves that are hashed before the stream is waited for: 4 GiB of memory.
static constexpr size_t LeafCapacity = 1u << 20;

MemoryReader::MemoryReader(Device &D, Staging &Slabs, StreamHandle Stream,
                           uint64_t TimeoutMs)
    : D(D), Slabs(Slabs), Stream(Stream), TimeoutMs(TimeoutMs) {}

MemoryReader::~MemoryReader() = default;

void MemoryReader::releaseAll() {
  if (Leaves && !Lost)
    (void)D.freeHost(Leaves);
  Leaves = nullptr;
  for (EventHandle E : Events)
    (void)D.destroyEvent(E);
  Events.clear();
}

Error MemoryReader::lost(Error E) {
  Lost = true;
  return E;
}

Expected<std::vector<std::vector<Digest>>>
MemoryReader::digests(std::span<const AddressRange> Ranges) {
  if (!Leaves) {
    Expected<void *> Memory = D.allocateHost(LeafCapacity * sizeof(LeafHash));
    if (!Memory)
      return Memory.error();
    Leaves = static_cast<LeafHash *>(*Memory);
  }
  std::vector<std::vector<Digest>> Result(Ranges.size());
  std::vector<Window> Windows;
  size_t Used = 0;
  for (size_t R = 0; R < Ranges.size(); ++R) {
    for (uint64_t Offset = 0; Offset < Ranges[R].Size;) {
      // Whole chunks only, so that no chunk's leaves are split.
      uint64_t Room =
          (LeafCapacity - Used) * LeafBytes / ChunkBytes * ChunkBytes;
      if (!Room) {
        if (Error E = hashWindows(Ranges, Windows, Result))
          return E;
        Windows.clear();
        Used = 0;
        continue;
      }
      uint64_t Bytes = std::min(Room, Ranges[R].Size - Offset);
      Windows.push_back({R, Offset, Bytes, Used});
      Used += (Bytes + LeafBytes - 1) / LeafBytes;
      Offset += Bytes;
    }
  }
  if (Error E = hashWindows(Ranges, Windows, Result))
    return E;
  return Result;
}

Error MemoryReader::hashWindows(std::span<const AddressRange> Ranges,
                                std::span<const Window> Windows,
                                std::vector<std::vector<Digest>> &Result) {
  if (Windows.empty())
    return Error::success();
  Error E;
  for (const Window &W : Windows)
    if (!E)
      E = D.hashLeaves(Ranges[W.Range].Begin + W.Offset, W.Bytes,
                       Leaves + W.Leaf, Stream);
  if (Error S = D.synchronize(Stream, TimeoutMs))
    return lost(S);
  if (E)
    return E;
  constexpr size_t PerChunk = ChunkBytes / LeafBytes;
  for (const Window &W : Windows) {
    size_t Count = (W.Bytes + LeafBytes - 1) / LeafBytes;
    for (size_t At = 0; At < Count; At += PerChunk)
      Result[W.Range].push_back(combineLeaves(
          {Leaves + W.Leaf + At, std::min(PerChunk, Count - At)}));
  }
  return Error::success();
}

Expected<EventHandle> MemoryReader::event() {
  if (Events.empty())
    return D.createEvent(/*Timing=*/false);
  EventHandle E = Events.back();
  Events.pop_back();
  return E;
}

Error MemoryReader::save(std::span<const WantedChunk> Chunks, Saver &Out) {
  Error E;
  for (size_t Next = 0; Next < Chunks.size() && !E;) {
    Expected<Staging::Slab *> Slab = slab(Out);
    if (!Slab) {
      E = Slab.error();
      break;
    }
    Filling F{*Slab};
    E = fillSlab(Chunks, Next, F);
    Error C = close(std::move(F));
    if (!E)
      E = C;
    if (!E)
      E = handOver(Out, /*Wait=*/false);
  }
  while (!InFlight.empty() && !Lost)
    if (Error H = handOver(Out, /*Wait=*/true); H && !E)
      E = H;
  return E;
}

Error MemoryReader::fillSlab(std::span<const WantedChunk> Chunks, size_t &Next,
                             Filling &F) {
  while (Next < Chunks.size()) {
    // A run of chunks that follow each other, as far as the slab goes.
    Address Begin = Chunks[Next].Where;
    uint64_t Run = 0, Range = Chunks[Next].Range;
    size_t First = Next;
    while (Next < Chunks.size() && Chunks[Next].Range == Range &&
           Chunks[Next].Where == Begin + Run &&
           F.Used + Run + Chunks[Next].Size <= Staging::SlabBytes) {
      F.Pieces.push_back(
          {Chunks[Next].Name, F.Slab->Data + F.Used + Run, Chunks[Next].Size});
      Run += Chunks[Next].Size;
      ++Next;
    }
    if (Next == First)
      return Error::success();
    if (Error E = D.copyToHost(F.Slab->Data + F.Used, Begin, Run, Stream))
      return E;
    F.Used += Run;
  }
  return Error::success();
}

Error MemoryReader::close(Filling F) {
  Expected<EventHandle> Copied = event();
  Error E = Copied ? D.record(*Copied, Stream) : Copied.error();
  if (E) {
    // Without an event nobody knows when the slab is free.
    if (Error S = D.synchronize(Stream, TimeoutMs))
      return lost(S);
    Slabs.release(F.Slab);
    return E;
  }
  F.Copied = *Copied;
  InFlight.push_back(std::move(F));
  return Error::success();
}

Error MemoryReader::handOver(Saver &Out, bool Wait) {
  while (!InFlight.empty()) {
    Filling &F = InFlight.front();
    if (Wait) {
      if (Error E = D.waitFor(F.Copied, TimeoutMs))
        return lost(E);
      Wait = false;
    } else {
      Expected<bool> Done = D.query(F.Copied);
      if (!Done)
        return lost(Done.error());
      if (!*Done)
        return Error::success();
    }
    Events.push_back(F.Copied);
    Out.write(std::move(F.Pieces),
              [this, Slab = F.Slab] { Slabs.release(Slab); });
    InFlight.pop_front();
  }
  return Error::success();
}

Expected<Staging::Slab *> MemoryReader::slab(Saver &Out) {
  auto Deadline =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(TimeoutMs);
  while (true) {
    if (Staging::Slab *S = Slabs.acquire())
      return S;
    if (!InFlight.empty()) {
      if (Error E = handOver(Out, /*Wait=*/true))
        return E;
    } else if (std::chrono::steady_clock::now() > Deadline) {
      return fail(ErrorCode::Timeout, "no staging memory for %llu ms",
                  static_cast<unsigned long long>(TimeoutMs));
    }
    // Writers are slower than the device: their speed is ours from here.
    (void)Slabs.waitForRelease(/*TimeoutMs=*/50);
  }
}

Error MemoryReader::read(Address Where, void *To, uint64_t Size) {
  if (Error E = D.copyToHost(To, Where, Size, Stream))
    return E;
  if (Error E = D.synchronize(Stream, TimeoutMs))
    return lost(E);
  return Error::success();
}

} // namespace r3::record
