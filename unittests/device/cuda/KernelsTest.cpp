// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device kernels' own source, run lane by lane on the host, against
// libxxhash (through Digest.h), the host's sketches and against a plain scan.
#include "unittests/device/cuda/HostWarp.h"

#include "runtime/device/cuda/Kernels.cu"
#include "runtime/support/Digest.h"
#include "runtime/support/Sketch.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <span>

using namespace r3;

namespace {

std::vector<uint8_t> randomBytes(size_t Size, unsigned Seed) {
  std::mt19937_64 Random(Seed);
  std::vector<uint8_t> Bytes(Size);
  for (uint8_t &Byte : Bytes)
    Byte = uint8_t(Random());
  return Bytes;
}

/// Leaf hashes of all pieces, as the device would make them.
std::vector<DeviceLeafHash>
hashAll(std::span<const std::pair<const uint8_t *, size_t>> Pieces) {
  HashTable Table = {};
  uint64_t Warps = 0, Leaves = 0;
  for (const auto &[Data, Size] : Pieces) {
    Table.List[Table.Count++] = {uint64_t(Data), Size, Warps, Leaves};
    Warps += hashWarps(Size);
    Leaves += (Size + DeviceLeafBytes - 1) / DeviceLeafBytes;
  }
  std::vector<DeviceLeafHash> Out(Leaves);
  const uint64_t PerBlock = HashThreads / 32;
  test::runGrid(unsigned((Warps + PerBlock - 1) / PerBlock), HashThreads,
                [&] { r3_hash_leaves(Table, Out.data()); });
  return Out;
}

/// Hashes Size bytes at Shift behind a 16-byte boundary.
std::vector<DeviceLeafHash> hash(std::span<const uint8_t> Bytes, size_t Shift,
                                 size_t Size) {
  // Nothing may be read or written outside what is given.
  std::vector<Vector> Storage((Shift + Size + 15) / 16);
  uint8_t *Data = reinterpret_cast<uint8_t *>(Storage.data()) + Shift;
  std::memcpy(Data, Bytes.data(), Size);
  const std::pair<const uint8_t *, size_t> Piece(Data, Size);
  return hashAll({&Piece, 1});
}

void expectHashes(size_t Shift, size_t Size) {
  std::vector<uint8_t> Bytes = randomBytes(Size, unsigned(Size));
  std::vector<DeviceLeafHash> Have = hash(Bytes, Shift, Size);
  for (size_t I = 0; I < Have.size(); ++I) {
    size_t At = I * LeafBytes;
    LeafHash Want =
        leafHash(std::span(Bytes).subspan(At, std::min(LeafBytes, Size - At)));
    EXPECT_EQ(Have[I].Seed0, Want.Seed0) << Size << " at " << Shift;
    EXPECT_EQ(Have[I].Seed1, Want.Seed1) << Size << " at " << Shift;
  }
}

TEST(Kernels, HashesOfShortMemory) {
  for (size_t Size = 1; Size < 140; ++Size)
    expectHashes(0, Size);
}

TEST(Kernels, HashesAroundLeaves) {
  for (size_t Size :
       {4064, 4095, 4096, 4097, 8192, 28672, 32768, 32769, 36864, 69633})
    expectHashes(0, Size);
}

TEST(Kernels, HashesAtAnyAlignment) {
  for (size_t Shift : {1, 4, 8, 15})
    for (size_t Size : {7, 33, 4096, 4099, 36900})
      expectHashes(Shift, Size);
}

/// Each as if it were alone, wherever the others end.
TEST(Kernels, HashesOfManyPieces) {
  std::vector<Vector> Storage(16 * DeviceLeafBytes / 16);
  auto *Data = reinterpret_cast<uint8_t *>(Storage.data());
  std::vector<uint8_t> Bytes = randomBytes(16 * DeviceLeafBytes, 11);
  std::memcpy(Data, Bytes.data(), Bytes.size());
  const std::pair<const uint8_t *, size_t> Pieces[] = {
      {Data + 16, 3 * LeafBytes},
      {Data + 8, 5},
      {Data, 9 * LeafBytes + 40},
      {Data + 10 * LeafBytes + 3, LeafBytes + 1},
      {Data + 32, 1},
  };
  std::vector<DeviceLeafHash> Have = hashAll(Pieces);
  size_t At = 0;
  for (const auto &[Begin, Size] : Pieces)
    for (size_t From = 0; From < Size; From += LeafBytes, ++At) {
      LeafHash Want =
          leafHash({Begin + From, std::min(LeafBytes, Size - From)});
      ASSERT_LT(At, Have.size());
      EXPECT_EQ(Have[At].Seed0, Want.Seed0) << Size << " bytes, " << From;
      EXPECT_EQ(Have[At].Seed1, Want.Seed1) << Size << " bytes, " << From;
    }
  EXPECT_EQ(At, Have.size());
}

/// Accumulators as four threads hold them, without any kernel around.
TEST(LeafHash, EqualsLibraryForAllSizes) {
  std::vector<uint8_t> Bytes = randomBytes(LeafBytes, 7);
  for (size_t Size = 1; Size <= LeafBytes; ++Size) {
    LeafHash Want = leafHash(std::span(Bytes).first(Size));
    for (uint64_t Seed : {0, 1}) {
      uint64_t A[4];
      for (unsigned Part = 0; Part < 4; ++Part) {
        A[Part] = leaf::start(Seed, Part);
        for (size_t At = 0; At + 32 <= Size; At += 32)
          A[Part] = leaf::round(
              A[Part], leaf::scramble(leaf::load64(&Bytes[At + Part * 8])));
      }
      uint64_t Hash = Size >= 32 ? leaf::converge(A[0], A[1], A[2], A[3])
                                 : Seed + leaf::Prime5;
      unsigned Left = Size % 32;
      EXPECT_EQ(leaf::finish(Hash + Size, Bytes.data() + Size - Left, Left),
                Seed ? Want.Seed1 : Want.Seed0)
          << Size;
    }
  }
}

/// The device's sketches, to the bit.
void expectSketches(ValueType Type, size_t Size) {
  // Also NaN and infinity: random bytes have some of each.
  std::vector<uint8_t> Bytes = randomBytes(Size, unsigned(Size));
  std::vector<Vector> Storage((Size + 15) / 16);
  const auto *Data = reinterpret_cast<const uint8_t *>(Storage.data());
  std::memcpy(Storage.data(), Bytes.data(), Size);
  const SketchForm Form = {Type, /*Seed=*/Size, /*FirstElement=*/640};
  const size_t Chunks = (Size + ChunkBytes - 1) / ChunkBytes;
  std::vector<Sketch> Out(Chunks);
  test::runGrid(unsigned(Chunks + 3) / 4, SketchThreads, [&] {
    r3_sketch(Data, Size, Type == ValueType::F64, Form.Seed, Form.FirstElement,
              Out.data());
  });
  for (size_t I = 0; I < Chunks; ++I) {
    const Sketch Want = sketchOf(
        std::span(Bytes).subspan(I * ChunkBytes,
                                 std::min(ChunkBytes, Size - I * ChunkBytes)),
        Form.ofChunk(I));
    EXPECT_EQ(std::memcmp(&Out[I], &Want, sizeof(Want)), 0)
        << Size << ", chunk " << I;
  }
}

TEST(Kernels, SketchesEqualTheHosts) {
  for (ValueType Type : {ValueType::F32, ValueType::F64})
    for (size_t Size : {4, 8, 252, 256, 260, 8195})
      expectSketches(Type, Size);
  expectSketches(ValueType::F64, ChunkBytes + 776);
}

std::vector<uint8_t> scan(const std::vector<uint32_t> &Words,
                          const std::vector<DeviceRange> &Ranges) {
  std::vector<uint8_t> Flags(Ranges.size());
  uint64_t Steps = Words.size() - 1;
  test::runGrid(2, 64, [&] {
    r3_scan_pointers(Words.data(), Steps, Ranges.data(),
                     unsigned(Ranges.size()), Flags.data());
  });
  return Flags;
}

std::vector<uint32_t> wordsWith(size_t Count, size_t At, uint64_t Value) {
  std::vector<uint32_t> Words(Count);
  Words[At] = uint32_t(Value);
  Words[At + 1] = uint32_t(Value >> 32);
  return Words;
}

TEST(Kernels, ScanKnowsTheEdges) {
  constexpr uint64_t A = 0x7f0000001000;
  std::vector<DeviceRange> Ranges = {
      {A, A + 0x100}, {A + 0x100, A + 0x200}, {A + 0x1000, A + 0x1001}};
  using Flags = std::vector<uint8_t>;
  EXPECT_EQ(scan(wordsWith(8, 0, A - 1), Ranges), (Flags{0, 0, 0}));
  EXPECT_EQ(scan(wordsWith(8, 1, A), Ranges), (Flags{1, 0, 0}));
  EXPECT_EQ(scan(wordsWith(8, 3, A + 0x100), Ranges), (Flags{1, 1, 0}));
  EXPECT_EQ(scan(wordsWith(8, 6, A + 0x200), Ranges), (Flags{0, 1, 0}));
  EXPECT_EQ(scan(wordsWith(8, 5, A + 0x201), Ranges), (Flags{0, 0, 0}));
  EXPECT_EQ(scan(wordsWith(8, 2, A + 0x1001), Ranges), (Flags{0, 0, 1}));
  EXPECT_EQ(scan(wordsWith(8, 2, A + 0x1002), Ranges), (Flags{0, 0, 0}));
  EXPECT_EQ(scan(wordsWith(2, 0, A), {{A, A + 1}}), (Flags{1}));
}

TEST(Kernels, ScanEqualsAPlainOne) {
  std::mt19937_64 Random(3);
  std::vector<DeviceRange> Ranges;
  for (uint64_t I = 0; I < 300; ++I)
    Ranges.push_back({0x1000'0000 + I * 0x1000,
                      0x1000'0000 + I * 0x1000 + 0x800 * (1 + I % 2)});
  std::vector<uint32_t> Words(4000);
  for (size_t I = 0; I < 150; ++I)
    Words[Random() % 3999] = uint32_t(0x1000'0000 + Random() % (300 * 0x1000));
  std::vector<uint8_t> Want(Ranges.size());
  for (size_t I = 0; I + 1 < Words.size(); ++I)
    for (size_t R = 0; R < Ranges.size(); ++R) {
      uint64_t Value = uint64_t(Words[I + 1]) << 32 | Words[I];
      if (Value >= Ranges[R].Begin && Value <= Ranges[R].End)
        Want[R] = 1;
    }
  EXPECT_EQ(scan(Words, Ranges), Want);
  EXPECT_GT(std::count(Want.begin(), Want.end(), 1), 20);
}

TEST(Kernels, FillAllSharedMemory) {
  for (uint32_t &Word : test::DynamicShared)
    Word = 1;
  test::runGrid(1, 64, [] { r3_fill_shared(1000, 0x5b5b5b5b); });
  for (size_t I = 0; I < std::size(test::DynamicShared); ++I)
    EXPECT_EQ(test::DynamicShared[I], I < 1000 ? 0x5b5b5b5b : 1) << I;
}

TEST(Kernels, FlushTouchesTheWholeBuffer) {
  std::vector<Vector> Buffer(1000);
  std::vector<unsigned> Sink(SinkWords);
  test::runGrid(1, 64,
                [&] { r3_flush_write(Buffer.data(), Buffer.size(), 5); });
  for (size_t I = 0; I < Buffer.size(); ++I)
    EXPECT_EQ(Buffer[I][0], 5u);
  // Each thread reads each of its vectors as often as asked: an odd number of
  // times shows all of them, an even one none.
  for (unsigned Times : {1u, 2u}) {
    std::vector<unsigned> Read(SinkWords);
    test::runGrid(1, 64, [&] {
      r3_read(Buffer.data(), Buffer.size(), Times, Read.data());
    });
    for (unsigned Thread = 0; Thread < 64; ++Thread) {
      unsigned Want = 0;
      for (size_t I = Thread; I < Buffer.size(); I += 64)
        Want ^= Buffer[I][0] ^ Buffer[I][1] ^ Buffer[I][2] ^ Buffer[I][3];
      EXPECT_EQ(Read[Thread], Times % 2 ? Want : 0) << Thread;
    }
  }
  // Halving and adding one comes to two.
  std::vector<double> Doubles(SinkWords / 2);
  std::vector<float> Floats(SinkWords / 2);
  std::vector<HalfPair> Halves(SinkWords / 2);
  test::runGrid(1, ArithmeticThreads, [&] {
    r3_multiply_add_double(4, Doubles.data());
    r3_multiply_add_float(4, Floats.data());
    r3_multiply_add_half(4, Halves.data());
  });
  for (unsigned Thread = 0; Thread < ArithmeticThreads; ++Thread) {
    EXPECT_NEAR(Doubles[Thread], 2 * ArithmeticChains, 1e-9) << Thread;
    EXPECT_NEAR(Floats[Thread], 2 * ArithmeticChains, 1e-4) << Thread;
    EXPECT_NEAR(Halves[Thread].Each, 2 * ArithmeticChains, 1e-4) << Thread;
  }
  test::runGrid(1, 64, [&] {
    r3_flush_read(Buffer.data(), Buffer.size(), Sink.data());
    r3_empty();
  });
}

} // namespace
