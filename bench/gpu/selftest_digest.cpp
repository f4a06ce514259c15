// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaf hashes, sketches and pointer scans against the host, and how fast they
// are.
#include "bench/gpu/SelfTest.h"

#include <algorithm>
#include <cstring>

using namespace r3;
using namespace r3::selftest;

namespace {

std::vector<LeafHash> hostLeaves(std::span<const uint8_t> Bytes) {
  std::vector<LeafHash> Out;
  for (size_t At = 0; At < Bytes.size(); At += LeafBytes)
    Out.push_back(
        leafHash(Bytes.subspan(At, std::min(LeafBytes, Bytes.size() - At))));
  return Out;
}

bool same(const LeafHash &A, const LeafHash &B) {
  return A.Seed0 == B.Seed0 && A.Seed1 == B.Seed1;
}

/// Every size at every alignment; the first difference is the detail.
std::string compareSizes(Bench &B, Address Base, std::span<const uint8_t> Host,
                         std::span<const size_t> Sizes) {
  for (size_t Shift : {0, 16, 8, 4, 1, 7})
    for (size_t Size : Sizes) {
      std::vector<LeafHash> Want = hostLeaves(Host.subspan(Shift, Size));
      std::vector<LeafHash> Have(Want.size());
      Error E = B.D.hashLeaves(Base + Shift, Size, Have.data(), B.Stream);
      if (!E)
        E = B.finish();
      if (E)
        return E.message();
      if (!std::equal(Want.begin(), Want.end(), Have.begin(), same))
        return format("%zu bytes, shifted by %zu, differ", Size, Shift);
    }
  return "";
}

void testValues(Bench &B) {
  constexpr size_t Most = (10u << 20) + 4096 + 64;
  std::vector<uint8_t> Host = pattern(Most, 2);
  Address Base = B.R.take(B.D.allocate(Most), "allocate");
  B.upload(Base, Host.data(), Most);
  std::vector<size_t> Sizes = {
      1,     2,     3,     4,     5,      7,      8,      9,
      15,    16,    31,    32,    33,     36,     63,     64,
      100,   2048,  4095,  4096,  4097,   8191,   8192,   28672,
      32768, 32769, 36864, 65539, 262143, 262144, 262145, (10u << 20) + 13};
  std::string Difference = compareSizes(B, Base, Host, Sizes);
  B.R.line(Difference.empty(), "hashLeaves equals the host's", Difference);
  Expected<std::vector<Digest>> Chunks =
      B.D.chunkDigests(Base, 3 * ChunkBytes + 5, B.Stream, 10000);
  bool Equal = Chunks && Chunks->size() == 4;
  for (size_t I = 0; Equal && I < 4; ++I)
    Equal = (*Chunks)[I] == chunkDigest(std::span(Host).subspan(
                                I * ChunkBytes, I < 3 ? ChunkBytes : 5));
  B.R.line(Equal, "chunkDigests equal the host's",
           Chunks ? "" : Chunks.error().message());
  B.R.check(B.D.free(Base), "free");
}

/// More than one slice of leaves, and the rate.
void testLarge(Bench &B) {
  constexpr uint64_t Size = (4ull << 30) + 4097;
  size_t Leaves = (Size + LeafBytes - 1) / LeafBytes;
  Address Base = B.R.take(B.D.allocate(Size), "allocate 4 GiB");
  auto *Out = static_cast<LeafHash *>(
      B.R.take(B.D.allocateHost(Leaves * sizeof(LeafHash)), "allocateHost"));
  B.R.check(B.D.fill(Base, 0x5a, Size, B.Stream), "fill 4 GiB");
  B.R.check(B.D.fill(Base + 3 * (1ull << 30) + 17, 1, 1, B.Stream), "fill");
  auto Work = [&] { return B.D.hashLeaves(Base, Size, Out, B.Stream); };
  timeOnDevice(B, Work);
  double Ms = std::min(timeOnDevice(B, Work), timeOnDevice(B, Work));
  std::vector<uint8_t> Plain(LeafBytes, 0x5a), Changed = Plain;
  Changed[17] = 1;
  LeafHash Usual = leafHash(Plain), Unusual = leafHash(Changed),
           Last = leafHash(std::span(Plain).first(1));
  size_t ChangedAt = 3 * (1ull << 30) / LeafBytes, Wrong = 0;
  for (size_t I = 0; I < Leaves; ++I)
    Wrong += !same(Out[I], I == ChangedAt    ? Unusual
                           : I == Leaves - 1 ? Last
                                             : Usual);
  B.R.line(Wrong == 0, "hashLeaves of 4 GiB", format("%zu wrong", Wrong));
  double Rate = double(Size) / (Ms * 1e-3) / 1e12;
  B.R.line(Rate > 1.0, "hashLeaves is faster than 1 TB/s",
           format("%.2f TB/s", Rate));
  B.R.check(B.D.freeHost(Out), "freeHost");
  B.R.check(B.D.free(Base), "free");
}

/// Random bytes hold NaN and infinity, too.
void testSketches(Bench &B) {
  constexpr size_t Most = (10u << 20) + 4096 + 64;
  std::vector<uint8_t> Host = pattern(Most, 4);
  Address Base = B.R.take(B.D.allocate(Most), "allocate");
  B.upload(Base, Host.data(), Most);
  std::string Difference;
  for (ValueType Type : {ValueType::F32, ValueType::F64})
    for (size_t Size : {4u, 8u, 252u, 256u, 260u, 8195u, 262144u, 262920u,
                        1048580u, (10u << 20) + 13}) {
      const SketchForm Form = {Type, /*Seed=*/Size, /*FirstElement=*/64};
      std::vector<Sketch> Have((Size + ChunkBytes - 1) / ChunkBytes);
      Error E = B.D.sketchChunks(Base + 16, Size, Form, Have.data(), B.Stream);
      if (!E)
        E = B.finish();
      if (E)
        Difference = E.message();
      for (size_t I = 0; I < Have.size() && Difference.empty(); ++I) {
        const size_t At = I * ChunkBytes;
        const Sketch Want = sketchOf(
            std::span(Host).subspan(16 + At, std::min(ChunkBytes, Size - At)),
            Form.ofChunk(I));
        if (std::memcmp(&Have[I], &Want, sizeof(Want)) != 0)
          Difference = format("%zu bytes of %s, chunk %zu", Size,
                              valueTypeName(Type).data(), I);
      }
    }
  B.R.line(Difference.empty(), "sketchChunks equals the host's", Difference);
  B.R.check(B.D.free(Base), "free");
}

/// More than one slice of chunks, and the rate.
void testLargeSketches(Bench &B) {
  constexpr uint64_t Size = (4ull << 30) + 4096;
  const size_t Chunks = (Size + ChunkBytes - 1) / ChunkBytes;
  Address Base = B.R.take(B.D.allocate(Size), "allocate 4 GiB");
  auto *Out = static_cast<Sketch *>(
      B.R.take(B.D.allocateHost(Chunks * sizeof(Sketch)), "allocateHost"));
  B.R.check(B.D.fill(Base, 0x3f, Size, B.Stream), "fill 4 GiB");
  const SketchForm Form = {ValueType::F32, /*Seed=*/3, /*FirstElement=*/0};
  auto Work = [&] { return B.D.sketchChunks(Base, Size, Form, Out, B.Stream); };
  timeOnDevice(B, Work);
  double Ms = std::min(timeOnDevice(B, Work), timeOnDevice(B, Work));
  const std::vector<uint8_t> Chunk(ChunkBytes, 0x3f);
  size_t Wrong = 0;
  for (size_t I = 0; I < Chunks; I += 1000) {
    const size_t Own = std::min<uint64_t>(ChunkBytes, Size - I * ChunkBytes);
    const Sketch Want = sketchOf(std::span(Chunk).first(Own), Form.ofChunk(I));
    Wrong += std::memcmp(&Out[I], &Want, sizeof(Want)) != 0;
  }
  B.R.line(Wrong == 0, "sketchChunks of 4 GiB", format("%zu wrong", Wrong));
  const double Rate = double(Size) / (Ms * 1e-3) / 1e12;
  B.R.line(Rate > 0.2, "sketchChunks is faster than 0.2 TB/s",
           format("%.2f TB/s", Rate));
  B.R.check(B.D.freeHost(Out), "freeHost");
  B.R.check(B.D.free(Base), "free");
}

} // namespace

void selftest::testHashes(Bench &B) {
  testValues(B);
  testLarge(B);
  testSketches(B);
  testLargeSketches(B);
}

namespace {

/// What scanPointers promises, said again without cleverness.
void scanOnHost(std::span<const uint8_t> Bytes,
                std::span<const AddressRange> Targets,
                std::vector<uint8_t> &Out) {
  for (size_t At = 0; At + 8 <= Bytes.size(); At += 4) {
    uint64_t Value;
    std::memcpy(&Value, Bytes.data() + At, 8);
    if (Value < Targets.front().Begin ||
        Value > Targets.back().Begin + Targets.back().Size)
      continue;
    for (size_t I = 0; I < Targets.size(); ++I)
      if (Value >= Targets[I].Begin &&
          Value <= Targets[I].Begin + Targets[I].Size)
        Out[I] = 1;
  }
}

void put(std::vector<uint8_t> &Bytes, size_t At, uint64_t Value) {
  std::memcpy(Bytes.data() + At, &Value, 8);
}

bool scanAgrees(Bench &B, Address Base, const std::vector<uint8_t> &Bytes,
                std::span<const AddressRange> Targets,
                std::vector<uint8_t> Flags) {
  std::vector<uint8_t> Want = Flags;
  scanOnHost(Bytes, Targets, Want);
  B.upload(Base, Bytes.data(), Bytes.size());
  Error E =
      B.D.scanPointers(Base, Bytes.size(), Targets, Flags.data(), B.Stream);
  if (!E)
    E = B.finish();
  if (E)
    B.R.check(E, "scanPointers");
  return !E && Flags == Want;
}

void testEdges(Bench &B, Address Base) {
  constexpr uint64_t A = 0x7f0000001000;
  AddressRange Targets[] = {{A, 0x100}, {A + 0x100, 0x100}, {A + 0x1000, 1}};
  struct {
    const char *Name;
    size_t At, Size;
    uint64_t Value;
  } Cases[] = {{"below the first", 0, 64, A - 1},
               {"begin", 8, 64, A},
               {"one past the end is both neighbours'", 12, 64, A + 0x100},
               {"one past the end", 4, 64, A + 0x200},
               {"two past the end", 0, 64, A + 0x201},
               {"last word", 56, 64, A + 0x1001},
               {"last word of an odd size", 52, 63, A + 5},
               {"cut off by the end", 56, 63, A + 5},
               {"not at a step of four", 18, 64, A + 5},
               {"eight bytes", 0, 8, A},
               {"seven bytes", 0, 7, 0}};
  for (auto &Case : Cases) {
    std::vector<uint8_t> Bytes(std::max<size_t>(Case.Size, Case.At + 8));
    put(Bytes, Case.At, Case.Value);
    Bytes.resize(Case.Size);
    B.R.check(scanAgrees(B, Base, Bytes, Targets, {0, 0, 0}),
              std::string("scanPointers: ") + Case.Name);
  }
  std::vector<uint8_t> Nothing(64);
  B.R.check(scanAgrees(B, Base, Nothing, Targets, {1, 0, 1}),
            "scanPointers keeps what is set");
}

void testMany(Bench &B, Address Base) {
  std::vector<AddressRange> Targets;
  for (uint64_t I = 0; I < 5000; ++I)
    Targets.push_back(
        {0x7000'0000'0000 + I * 0x10000, I % 7 ? 0x8000u : 0x10000u});
  std::vector<uint8_t> Bytes = pattern(8u << 20, 3);
  for (size_t I = 0; I < 3000; ++I)
    put(Bytes, 4 * ((I * 7919) % (Bytes.size() / 4 - 2)),
        Targets[(I * 31) % Targets.size()].Begin + I * 11);
  B.R.check(
      scanAgrees(B, Base, Bytes, Targets, std::vector<uint8_t>(Targets.size())),
      "scanPointers with 5000 targets");
  Targets.resize(2000);
  B.R.check(
      scanAgrees(B, Base, Bytes, Targets, std::vector<uint8_t>(Targets.size())),
      "scanPointers with other targets");
}

void testScanRate(Bench &B) {
  constexpr uint64_t Size = 4ull << 30;
  Address Base = B.R.take(B.D.allocate(Size), "allocate");
  AddressRange Target{Base, Size};
  B.R.check(B.D.fill(Base, 0, Size, B.Stream), "fill");
  auto *Flag = static_cast<uint8_t *>(B.R.take(B.D.allocateHost(1), "pinned"));
  *Flag = 0;
  auto Work = [&] {
    return B.D.scanPointers(Base, Size, {&Target, 1}, Flag, B.Stream);
  };
  timeOnDevice(B, Work);
  double Ms = timeOnDevice(B, Work);
  double Rate = double(Size) / (Ms * 1e-3) / 1e12;
  B.R.line(Rate > 1.0 && *Flag == 0, "scanPointers is faster than 1 TB/s",
           format("%.2f TB/s", Rate));
  B.R.check(B.D.freeHost(Flag), "freeHost");
  B.R.check(B.D.free(Base), "free");
}

} // namespace

void selftest::testScan(Bench &B) {
  Address Base = B.R.take(B.D.allocate(16u << 20), "allocate");
  testEdges(B, Base);
  testMany(B, Base);
  B.R.check(B.D.free(Base), "free");
  testScanRate(B);
}

/// A buffer that fits into the cache is read slowly right after a flush.
void selftest::testCache(Bench &B) {
  uint64_t Size = std::min<uint64_t>(B.D.identity().L2Bytes / 4, 8u << 20);
  Address Base = B.R.take(B.D.allocate(2 * Size), "allocate");
  auto Copy = [&] { return B.D.copy(Base + Size, Base, Size, B.Stream); };
  for (int I = 0; I < 3; ++I)
    timeOnDevice(B, Copy);
  double Warm = timeOnDevice(B, Copy);
  double Flush = timeOnDevice(B, [&] { return B.D.flushCache(B.Stream); });
  double Cold = timeOnDevice(B, Copy);
  B.R.line(
      Flush > 0, "flushCache",
      format("%.3f ms; copy warm %.4f ms, cold %.4f ms", Flush, Warm, Cold));
  B.R.check(B.D.free(Base), "free");
}
