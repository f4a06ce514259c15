// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks are fetched in batches: few round trips, bounded memory.
#include "wrapper/replay/Compare.h"

#include <algorithm>
#include <numeric>

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

using AddChunk = std::function<bool(const trust::DifferingChunk &)>;

Error wrongSize(const LoadedRecording &L, size_t Range, uint64_t Chunk) {
  return fail(
      ErrorCode::Damaged, "chunk %llu of %s has another size than recorded",
      static_cast<unsigned long long>(Chunk), L.Buffers[Range].Name.c_str());
}

/// Chunks of one range: as they were, as they have to be, and as they are.
struct RangeChunks {
  const KernelSet &Kernel;
  const LoadedRecording &L;
  size_t Index, Range;

  /// Visits each; false: it was told to stop.
  Expected<bool> each(DeviceLink &Device, const std::vector<uint64_t> &Chunks,
                      const AddChunk &Add) const {
    for (size_t Begin = 0; Begin < Chunks.size(); Begin += BatchChunks) {
      const std::vector<uint64_t> Batch(
          Chunks.begin() + Begin,
          Chunks.begin() + std::min(Chunks.size(), Begin + BatchChunks));
      auto Bytes = Device.read(Index, Range, Batch);
      if (!Bytes)
        return Bytes.error();
      std::span<const uint8_t> Rest(*Bytes);
      for (uint64_t Chunk : Batch) {
        const size_t At = L.RangeStart[Range] + Chunk;
        auto Before = Kernel.chunk(L.Before[At]);
        if (!Before)
          return Before.error();
        auto Expected = Kernel.chunk(L.After[At]);
        if (!Expected)
          return Expected.error();
        const size_t Size =
            Recording::chunkSize(L.Manifest.Allocations[Range].Size, Chunk);
        if (Before->size() != Size || Expected->size() != Size ||
            Rest.size() < Size)
          return wrongSize(L, Range, Chunk);
        if (!Add({Range, Chunk * ChunkBytes, *Before, *Expected,
                  Rest.first(Size)}))
          return false;
        Rest = Rest.subspan(Size);
      }
    }
    return true;
  }

  /// The same for the chunks that differ once records are sorted.
  Expected<bool>
  eachSorted(DeviceLink &Device,
             const std::vector<const trust::UnorderedRecords *> &Records,
             const AddChunk &Add) const {
    std::vector<uint64_t> All(L.Manifest.Allocations[Range].Before.size());
    std::iota(All.begin(), All.end(), 0);
    std::vector<uint8_t> Before, Expected, Got;
    auto Append = [](std::vector<uint8_t> &To, std::span<const uint8_t> From) {
      To.insert(To.end(), From.begin(), From.end());
    };
    auto Read = each(Device, All, [&](const trust::DifferingChunk &Chunk) {
      Append(Before, Chunk.Before);
      Append(Expected, Chunk.Expected);
      Append(Got, Chunk.Got);
      return true;
    });
    if (!Read)
      return Read.error();
    for (std::vector<uint8_t> *Bytes : {&Before, &Expected, &Got})
      for (const trust::UnorderedRecords *Which : Records)
        trust::sortRecords(*Bytes, *Which);
    for (size_t At = 0; At < Got.size(); At += ChunkBytes) {
      const size_t Size = std::min<size_t>(ChunkBytes, Got.size() - At);
      auto In = [&](const std::vector<uint8_t> &Bytes) {
        return std::span(Bytes).subspan(At, Size);
      };
      if (!std::ranges::equal(In(Expected), In(Got)) &&
          !Add({Range, At, In(Before), In(Expected), In(Got)}))
        return false;
    }
    return true;
  }
};

} // namespace

std::string placeOf(const LoadedRecording &L, uint64_t Address) {
  const trust::Buffer *Best = nullptr;
  for (const trust::Buffer &B : L.Buffers)
    if (B.Address <= Address && (!Best || B.Address > Best->Address))
      Best = &B;
  if (Best && Address - Best->Address < Best->Size)
    return format("%s, byte %llu", Best->Name.c_str(),
                  static_cast<unsigned long long>(Address - Best->Address));
  return Best ? format("behind %s (%llu bytes at 0x%llx)", Best->Name.c_str(),
                       static_cast<unsigned long long>(Best->Size),
                       static_cast<unsigned long long>(Best->Address))
              : "before the first allocation";
}

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
                           placeOf(L, Device.rangeAddress(Index, D.Range))};
  if (!Result.Guards.ok())
    return Result;
  for (const RangeDifference &D : Differences) {
    const RangeChunks Chunks{Kernel, L, Index, D.Range};
    std::vector<const trust::UnorderedRecords *> Records;
    for (const trust::UnorderedRecords &Which : L.Unordered)
      if (Which.Buffer == D.Range)
        Records.push_back(&Which);
    auto Complete = Records.empty() ? Chunks.each(Device, D.Chunks, Add)
                                    : Chunks.eachSorted(Device, Records, Add);
    if (!Complete)
      return Complete.error();
    if (!*Complete) {
      Result.Complete = false;
      return Result;
    }
  }
  return Result;
}

} // namespace r3::replay
