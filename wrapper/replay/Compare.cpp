// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks are fetched in batches: few round trips, bounded memory.
#include "wrapper/replay/Compare.h"

#include <algorithm>

namespace r3::replay {

namespace {

constexpr size_t BatchChunks = 64;

/// Differing digests of one range.
struct RangeDifference {
  size_t Range = 0;
  std::vector<uint64_t> Chunks;
};

std::vector<RangeDifference> byRange(const LoadedRecording &L,
                                     const std::vector<size_t> &Differing) {
  std::vector<RangeDifference> Result;
  for (size_t At : Differing) {
    const auto Next =
        std::upper_bound(L.RangeStart.begin(), L.RangeStart.end(), At);
    const size_t Range = static_cast<size_t>(Next - L.RangeStart.begin()) - 1;
    if (Result.empty() || Result.back().Range != Range)
      Result.push_back({Range, {}});
    Result.back().Chunks.push_back(At - L.RangeStart[Range]);
  }
  return Result;
}

/// The allocation that ends last before Address, for a message.
std::string nearest(const LoadedRecording &L, uint64_t Address) {
  const trust::Buffer *Best = nullptr;
  for (const trust::Buffer &B : L.Buffers)
    if (B.Address <= Address && (!Best || B.Address > Best->Address))
      Best = &B;
  return Best ? format("behind %s (%llu bytes at 0x%llx)", Best->Name.c_str(),
                       static_cast<unsigned long long>(Best->Size),
                       static_cast<unsigned long long>(Best->Address))
              : "before the first allocation";
}

} // namespace

Expected<Comparison>
compareRun(const KernelSet &Kernel, size_t Index, DeviceLink &Device,
           const std::vector<Digest> &Got,
           const std::function<bool(const trust::DifferingChunk &)> &Add) {
  const LoadedRecording &L = Kernel.recordings()[Index];
  if (Got.size() != L.After.size())
    return fail(ErrorCode::Damaged, "%zu digests came, %zu were due",
                Got.size(), L.After.size());
  Comparison Result;
  const auto Differences = byRange(L, trust::differing(L.After, Got));
  for (const RangeDifference &D : Differences)
    if (D.Range >= L.Buffers.size() && Result.Guards.ok())
      Result.Guards = {Outcome::OutOfBounds,
                       "memory outside the recorded allocations changed, " +
                           nearest(L, Device.rangeAddress(Index, D.Range))};
  if (!Result.Guards.ok())
    return Result;
  for (const RangeDifference &D : Differences)
    for (size_t Begin = 0; Begin < D.Chunks.size(); Begin += BatchChunks) {
      const std::vector<uint64_t> Batch(
          D.Chunks.begin() + Begin,
          D.Chunks.begin() + std::min(D.Chunks.size(), Begin + BatchChunks));
      auto Bytes = Device.read(Index, D.Range, Batch);
      if (!Bytes)
        return Bytes.error();
      std::span<const uint8_t> Rest(*Bytes);
      for (uint64_t Chunk : Batch) {
        const size_t At = L.RangeStart[D.Range] + Chunk;
        auto Before = Kernel.chunk(L.Before[At]);
        if (!Before)
          return Before.error();
        auto Expected = Kernel.chunk(L.After[At]);
        if (!Expected)
          return Expected.error();
        const size_t Size =
            Recording::chunkSize(L.Manifest.Allocations[D.Range].Size, Chunk);
        if (Before->size() != Size || Expected->size() != Size ||
            Rest.size() < Size)
          return fail(ErrorCode::Damaged,
                      "chunk %llu of %s has another size than recorded",
                      static_cast<unsigned long long>(Chunk),
                      L.Buffers[D.Range].Name.c_str());
        const bool More = Add({D.Range, Chunk * ChunkBytes, *Before, *Expected,
                               Rest.first(Size)});
        Rest = Rest.subspan(Size);
        if (!More) {
          Result.Complete = false;
          return Result;
        }
      }
    }
  return Result;
}

} // namespace r3::replay
