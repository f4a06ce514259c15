// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, digests and scans of the CPU device. Long ones are shared out among
// the processor threads.
#include "runtime/device/cpu/CpuDevice.h"

#include <algorithm>
#include <cstring>

namespace r3::cpu {

namespace {

void *pointer(Address Where) { return reinterpret_cast<void *>(Where); }

/// Work below this is done in the asking thread where the stream is idle.
constexpr uint64_t InlineBytes = 64 * 1024;
/// Pieces that processor threads take.
constexpr uint64_t PieceBytes = 4ull << 20;

uint64_t pieces(uint64_t Size) { return (Size + PieceBytes - 1) / PieceBytes; }

} // namespace

Expected<void *> CpuDevice::allocateHost(uint64_t Size) {
  // Not Pinned: the program's own pinned memory must not move.
  Expected<Address> Where = Store.allocate(Size, MemoryUse::Internal, 0);
  if (!Where)
    return Where.error();
  return pointer(*Where);
}

Expected<AddressRange> CpuDevice::allocationOf(Address Where) {
  std::optional<MemoryBlock> Block = Store.find(Where);
  if (!Block || Block->Use == MemoryUse::Register)
    return fail(ErrorCode::NotFound, "0x%llx is no device memory",
                static_cast<unsigned long long>(Where));
  return AddressRange{Block->Begin, Block->Size};
}

Error CpuDevice::copy(Address To, Address From, uint64_t Size,
                      StreamHandle Stream) {
  return onStream(
      Stream,
      [=, this] {
        // Pieces may not overlap with others' targets.
        bool Apart = To + Size <= From || From + Size <= To;
        if (!Apart || Size <= PieceBytes) {
          std::memmove(pointer(To), pointer(From), Size);
          return;
        }
        Processors.each(pieces(Size), [=](uint64_t I) {
          uint64_t Offset = I * PieceBytes;
          std::memcpy(pointer(To + Offset), pointer(From + Offset),
                      std::min(PieceBytes, Size - Offset));
        });
      },
      Size <= InlineBytes);
}

Error CpuDevice::copyToHost(void *To, Address From, uint64_t Size,
                            StreamHandle Stream) {
  return copy(reinterpret_cast<Address>(To), From, Size, Stream);
}

Error CpuDevice::copyToDevice(Address To, const void *From, uint64_t Size,
                              StreamHandle Stream) {
  return copy(To, reinterpret_cast<Address>(From), Size, Stream);
}

Error CpuDevice::fill(Address Where, uint8_t Byte, uint64_t Size,
                      StreamHandle Stream) {
  return onStream(
      Stream,
      [=, this] {
        Processors.each(pieces(Size), [=](uint64_t I) {
          uint64_t Offset = I * PieceBytes;
          std::memset(pointer(Where + Offset), Byte,
                      std::min(PieceBytes, Size - Offset));
        });
      },
      Size <= InlineBytes);
}

Error CpuDevice::hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                            StreamHandle Stream) {
  return onStream(
      Stream,
      [=, this] {
        const auto *Bytes = static_cast<const uint8_t *>(pointer(Where));
        Processors.each(pieces(Size), [=](uint64_t I) {
          uint64_t End = std::min((I + 1) * PieceBytes, Size);
          for (uint64_t At = I * PieceBytes; At < End; At += LeafBytes)
            Out[At / LeafBytes] =
                leafHash({Bytes + At, std::min<uint64_t>(LeafBytes, End - At)});
        });
      },
      /*Inline=*/false);
}

Error CpuDevice::sketchChunks(Address Where, uint64_t Size,
                              const SketchForm &Form, Sketch *Out,
                              StreamHandle Stream) {
  return onStream(
      Stream,
      [=, this] {
        const auto *Bytes = static_cast<const uint8_t *>(pointer(Where));
        Processors.each((Size + ChunkBytes - 1) / ChunkBytes, [=](uint64_t I) {
          const uint64_t Own =
              std::min<uint64_t>(ChunkBytes, Size - I * ChunkBytes);
          Out[I] = sketchOf({Bytes + I * ChunkBytes, Own}, Form.ofChunk(I));
        });
      },
      /*Inline=*/false);
}

namespace {

/// Looks for addresses inside Targets among the words of a piece.
void scan(Address Where, uint64_t Size,
          const std::vector<AddressRange> &Targets, uint8_t *Out) {
  Address Low = Targets.front().Begin;
  Address High = Targets.back().Begin + Targets.back().Size;
  const auto *Bytes = static_cast<const uint8_t *>(pointer(Where));
  for (uint64_t At = 0; At + 8 <= Size; At += 4) {
    Address Word;
    std::memcpy(&Word, Bytes + At, sizeof(Word));
    if (Word < Low || Word > High)
      continue;
    // The last target that begins at or before the word; one past the end of
    // the one before it counts too.
    auto It = std::upper_bound(
        Targets.begin(), Targets.end(), Word,
        [](Address A, const AddressRange &R) { return A < R.Begin; });
    for (int Back = 0; Back < 2 && It != Targets.begin(); ++Back) {
      --It;
      if (Word - It->Begin <= It->Size)
        __atomic_store_n(Out + (It - Targets.begin()), 1, __ATOMIC_RELAXED);
    }
  }
}

} // namespace

Error CpuDevice::scanPointers(Address Where, uint64_t Size,
                              std::span<const AddressRange> Targets,
                              uint8_t *Out, StreamHandle Stream) {
  if (Targets.empty())
    return Error::success();
  std::vector<AddressRange> Kept(Targets.begin(), Targets.end());
  return onStream(
      Stream,
      [=, this, Kept = std::move(Kept)] {
        Processors.each(pieces(Size), [&](uint64_t I) {
          uint64_t Offset = I * PieceBytes;
          // A word may lie across the end of the piece.
          scan(Where + Offset, std::min(PieceBytes + 4, Size - Offset), Kept,
               Out);
        });
      },
      /*Inline=*/false);
}

namespace {

constexpr size_t Line = 64 / sizeof(uint64_t);

/// One word of each line of [Words, Words+Count).
void readLines(const uint64_t *Words, size_t Count) {
  uint64_t Sum = 0;
  for (size_t I = 0; I < Count; I += Line)
    Sum += Words[I];
  // Reading must not be optimised away.
  asm volatile("" : : "r"(Sum) : "memory");
}

} // namespace

Error CpuDevice::readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                                StreamHandle Stream) {
  return onStream(
      Stream,
      [=, this] {
        Processors.each(pieces(Size), [=](uint64_t Piece) {
          const uint64_t Offset = Piece * PieceBytes;
          const auto *Words = static_cast<uint64_t *>(pointer(Where + Offset));
          for (uint32_t Time = 0; Time < Times; ++Time)
            readLines(Words, std::min(PieceBytes, Size - Offset) / 8);
        });
      },
      /*Inline=*/false);
}

Error CpuDevice::flushCache(StreamHandle Stream) {
  return onStream(
      Stream,
      [this] {
        std::lock_guard Lock(FlushMutex);
        FlushBuffer.resize(2 * Identity.L2Bytes / sizeof(uint64_t));
        uint64_t *Other = FlushBuffer.data();
        const size_t Count = FlushBuffer.size();
        for (bool Write : {true, false})
          Processors.each(pieces(Count * 8), [=](uint64_t Piece) {
            const size_t Begin = Piece * PieceBytes / 8;
            const size_t Own = std::min<size_t>(PieceBytes / 8, Count - Begin);
            for (size_t I = Begin; Write && I < Begin + Own; I += Line)
              ++Other[I];
            if (!Write)
              readLines(Other + Begin, Own);
          });
      },
      /*Inline=*/false);
}

} // namespace r3::cpu
