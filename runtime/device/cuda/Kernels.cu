// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's own kernels: leaf hashes, sketches, pointer scan, cache flush,
// rates, filled shared and local memory, and an empty kernel. Compiled by clang
// without CUDA's headers (so that no toolkit version matters) to PTX for sm_75,
// which every newer driver translates; the host side is KernelAbi.h. Pointers
// to the program's memory are volatile in effect: nothing here may assume that
// they are not written between launches, so no read-only cache.
#include "runtime/device/cuda/KernelAbi.h"
#include "runtime/device/cuda/LeafHash.h"
#include "runtime/support/SketchParts.h"

// A test runs these kernels on the host, with definitions of its own.
#ifndef R3_KERNEL
#define R3_KERNEL extern "C" __attribute__((global, used)) void
#define R3_DEVICE static __attribute__((device)) inline
#define R3_SHARED static __attribute__((shared))
#define R3_DYNAMIC_SHARED(Type, Name) extern __attribute__((shared)) Type Name[]
#define R3_BOUNDS(Threads) __attribute__((launch_bounds(Threads)))
#define R3_CONSTANT const __attribute__((grid_constant))
#define R3_KERNEL_MEMBER __attribute__((device)) inline

typedef _Float16 HalfPair __attribute__((ext_vector_type(2)));
R3_DEVICE HalfPair fused(HalfPair A, HalfPair B, HalfPair C) {
  return __builtin_elementwise_fma(A, B, C);
}
#endif

using namespace r3;

typedef uint32_t Vector __attribute__((vector_size(16)));
typedef uint32_t __attribute__((may_alias)) Word32;
typedef uint64_t __attribute__((may_alias)) Word64;
typedef float __attribute__((may_alias)) FloatWord;
typedef double __attribute__((may_alias)) DoubleWord;

R3_DEVICE unsigned threadInBlock() { return __nvvm_read_ptx_sreg_tid_x(); }
R3_DEVICE unsigned blockThreads() { return __nvvm_read_ptx_sreg_ntid_x(); }
R3_DEVICE uint64_t globalThread() {
  return uint64_t(__nvvm_read_ptx_sreg_ctaid_x()) * blockThreads() +
         threadInBlock();
}
R3_DEVICE uint64_t allThreads() {
  return uint64_t(__nvvm_read_ptx_sreg_nctaid_x()) * blockThreads();
}
R3_DEVICE void syncWarp() { __nvvm_bar_warp_sync(0xffffffffu); }

/// The value of Source's lane; all 32 lanes take part.
R3_DEVICE uint64_t shuffle(uint64_t Value, unsigned Source) {
  uint32_t Low = __nvvm_shfl_sync_idx_i32(0xffffffffu, int(Value), Source, 31);
  uint32_t High =
      __nvvm_shfl_sync_idx_i32(0xffffffffu, int(Value >> 32), Source, 31);
  return uint64_t(High) << 32 | Low;
}

// --- Leaf hashes. A warp takes eight leaves, four threads each.

constexpr unsigned WarpLeaves = 8;
constexpr unsigned TileBytes = 128; // of each leaf at a time
constexpr unsigned TileStripes = TileBytes / leaf::StripeBytes;
// A row is a leaf's tile; the padding spreads the rows over the banks.
constexpr unsigned RowBytes = TileBytes + 32;
constexpr unsigned RowVectors = RowBytes / 16;
constexpr unsigned TileVectors = TileBytes / 16;

/// Both seeds' accumulator of one of a leaf's four threads.
struct Accumulators {
  uint64_t Seed0, Seed1;

  R3_KERNEL_MEMBER void take(uint64_t Word) {
    uint64_t Scrambled = leaf::scramble(Word);
    Seed0 = leaf::round(Seed0, Scrambled);
    Seed1 = leaf::round(Seed1, Scrambled);
  }
};

R3_DEVICE Accumulators startOf(unsigned Part) {
  return {leaf::start(0, Part), leaf::start(1, Part)};
}

/// Ends a leaf: threads 0 and 1 of the four write the hash of seed 0 and 1.
/// All 32 lanes must come here; those without Write only shuffle.
R3_DEVICE void finishLeaf(Accumulators Own, const uint8_t *Leaf,
                          unsigned Length, DeviceLeafHash *Out, bool Write) {
  unsigned Lane = threadInBlock() % 32, Part = Lane % 4, First = Lane - Part;
  uint64_t Parts[4];
  for (unsigned I = 0; I < 4; ++I) {
    uint64_t Of0 = shuffle(Own.Seed0, First + I);
    uint64_t Of1 = shuffle(Own.Seed1, First + I);
    Parts[I] = Part == 0 ? Of0 : Of1;
  }
  if (!Write || Part > 1)
    return;
  unsigned Left = Length % leaf::StripeBytes;
  uint64_t Hash = Length >= leaf::StripeBytes
                      ? leaf::converge(Parts[0], Parts[1], Parts[2], Parts[3])
                      : Part + leaf::Prime5;
  Hash = leaf::finish(Hash + Length, Leaf + (Length - Left), Left);
  (Part == 0 ? Out->Seed0 : Out->Seed1) = Hash;
}

/// Takes in all whole stripes; several loads are under way at a time.
template <typename Load>
R3_DEVICE void takeStripes(Accumulators &Own, unsigned Length, Load LoadAt) {
#pragma unroll 8
  for (unsigned At = 0; At + leaf::StripeBytes <= Length;
       At += leaf::StripeBytes)
    Own.take(LoadAt(At));
}

/// A leaf of any length at any address.
R3_DEVICE void hashAny(const uint8_t *Leaf, unsigned Length,
                       DeviceLeafHash *Out, bool Write) {
  unsigned Part = threadInBlock() % 4;
  const uint8_t *Mine = Leaf + Part * 8;
  Accumulators Own = startOf(Part);
  if ((uintptr_t)Leaf % 8 == 0)
    takeStripes(Own, Length,
                [=](unsigned At) { return *(const Word64 *)(Mine + At); });
  else
    takeStripes(Own, Length,
                [=](unsigned At) { return leaf::load64(Mine + At); });
  finishLeaf(Own, Leaf, Length, Out, Write);
}

/// The vectors of one tile that this lane fetches: eight lanes read 128
/// consecutive bytes of one leaf.
struct TileLoader {
  const uint8_t *Low;  // in leaves 0..3 of the warp
  const uint8_t *High; // in leaves 4..7
  Vector LowValue, HighValue;

  R3_KERNEL_MEMBER void fetch(unsigned Tile) {
    LowValue = *(const Vector *)(Low + Tile * TileBytes);
    HighValue = *(const Vector *)(High + Tile * TileBytes);
  }
};

/// Eight whole leaves from First on (fewer where Leaves says so: the missing
/// ones repeat the last and write nothing). Data is 16-byte aligned.
R3_DEVICE void hashWholeLeaves(const uint8_t *Data, uint64_t First,
                               uint64_t Leaves, Vector *Rows,
                               DeviceLeafHash *Out) {
  unsigned Lane = threadInBlock() % 32, Part = Lane % 4, Mine = Lane / 4;
  unsigned Row = Lane / TileVectors, Column = Lane % TileVectors;
  uint64_t Last = Leaves - 1;
  uint64_t LowLeaf = First + Row, HighLeaf = First + Row + WarpLeaves / 2;
  TileLoader Loader;
  Loader.Low =
      Data + (LowLeaf < Last ? LowLeaf : Last) * DeviceLeafBytes + Column * 16;
  Loader.High = Data + (HighLeaf < Last ? HighLeaf : Last) * DeviceLeafBytes +
                Column * 16;
  Loader.fetch(0);

  Accumulators Own = startOf(Part);
  const uint8_t *Words = (const uint8_t *)(Rows + Mine * RowVectors) + Part * 8;
  for (unsigned Tile = 0; Tile < DeviceLeafBytes / TileBytes; ++Tile) {
    Rows[Row * RowVectors + Column] = Loader.LowValue;
    Rows[(Row + WarpLeaves / 2) * RowVectors + Column] = Loader.HighValue;
    syncWarp();
    // The next tile is under way while this one is digested.
    if (Tile + 1 < DeviceLeafBytes / TileBytes)
      Loader.fetch(Tile + 1);
#pragma unroll
    for (unsigned Stripe = 0; Stripe < TileStripes; ++Stripe)
      Own.take(*(const Word64 *)(Words + Stripe * leaf::StripeBytes));
    syncWarp();
  }
  uint64_t Leaf = First + Mine;
  bool Write = Leaf < Leaves;
  finishLeaf(Own, Data, DeviceLeafBytes, Out + (Write ? Leaf : Last), Write);
}

/// Leaves of all pieces of the table into Out. Of each piece one warp takes
/// eight whole leaves, and one more a short last one (hashWarps() in
/// KernelAbi.h).
R3_KERNEL R3_BOUNDS(HashThreads)
    r3_hash_leaves(R3_CONSTANT HashTable Table, DeviceLeafHash *Out) {
  R3_SHARED Vector Tiles[HashThreads / 32][WarpLeaves * RowVectors];
  uint64_t Warp = globalThread() / 32;
  unsigned Last = 0; // the last piece that begins at or below
  while (Last + 1 < Table.Count && Table.List[Last + 1].FirstWarp <= Warp)
    ++Last;
  const uint8_t *Data = (const uint8_t *)Table.List[Last].Begin;
  uint64_t Size = Table.List[Last].Size;
  Warp -= Table.List[Last].FirstWarp;
  Out += Table.List[Last].FirstLeaf;
  uint64_t Whole = Size / DeviceLeafBytes;
  uint64_t WholeWarps = (Whole + WarpLeaves - 1) / WarpLeaves;
  uint64_t First = Warp * WarpLeaves;
  if (Warp < WholeWarps && (uintptr_t)Data % 16 == 0) {
    hashWholeLeaves(Data, First, Whole, Tiles[threadInBlock() / 32], Out);
  } else if (Warp < WholeWarps) {
    uint64_t Leaf = First + threadInBlock() % 32 / 4;
    bool Write = Leaf < Whole;
    Leaf = Write ? Leaf : Whole - 1;
    hashAny(Data + Leaf * DeviceLeafBytes, DeviceLeafBytes, Out + Leaf, Write);
  } else if (Warp == WholeWarps && Size % DeviceLeafBytes != 0) {
    hashAny(Data + Whole * DeviceLeafBytes, Size % DeviceLeafBytes, Out + Whole,
            threadInBlock() % 32 < 4);
  }
}

// --- Sketches (runtime/support/Sketch.h). Of each group of 64 elements a lane
// has numbers Lane and Lane + 32, and in the end the sums of these numbers.

/// One step of the transform: with the lane Half away.
R3_DEVICE double butterfly(double Own, unsigned Half) {
  unsigned Lane = threadInBlock() % 32;
  double Other = __builtin_bit_cast(
      double, shuffle(__builtin_bit_cast(uint64_t, Own), Lane ^ Half));
  return Lane & Half ? Other - Own : Own + Other;
}

/// A chunk's elements as they go into the transform.
template <typename T> struct GroupLoader {
  const T *Data;
  uint64_t Count, Seed, First; // First: number of Data's first element
  uint64_t Odd;

  /// Element I of a group; 0 behind the end.
  R3_KERNEL_MEMBER T load(uint64_t Group, unsigned I) const {
    uint64_t At = Group * sketch::Width + I;
    return At < Count ? Data[At] : T(0);
  }
  R3_KERNEL_MEMBER double withSign(double Value, uint64_t Group, unsigned I) {
    if (sketch::isOdd(Value)) {
      Odd += sketch::oddMark(Seed, First + Group * sketch::Width + I, Value);
      return 0;
    }
    return sketch::withSign(
        Value, sketch::elementSigns(Seed, First / sketch::Width + Group), I);
  }
};

template <typename T>
R3_DEVICE void sketchChunk(const T *Data, uint64_t Count, uint64_t Seed,
                           uint64_t First, Sketch *Out) {
  unsigned Lane = threadInBlock() % 32;
  GroupLoader<T> Loader = {Data, Count, Seed, First, 0};
  sketch::Sum LowSum, HighSum;
  uint64_t Groups = (Count + sketch::Width - 1) / sketch::Width;
  T NextA = Loader.load(0, Lane), NextB = Loader.load(0, Lane + 32);
  for (uint64_t Group = 0; Group < Groups; ++Group) {
    double A = Loader.withSign(NextA, Group, Lane);
    double B = Loader.withSign(NextB, Group, Lane + 32);
    // The next group is under way while this one is transformed.
    NextA = Loader.load(Group + 1, Lane);
    NextB = Loader.load(Group + 1, Lane + 32);
    double Low = A + B, High = A - B;
#pragma unroll
    for (unsigned Half = 16; Half > 0; Half /= 2) {
      Low = butterfly(Low, Half);
      High = butterfly(High, Half);
    }
    uint64_t Signs = sketch::sumSigns(Seed, First / sketch::Width + Group);
    LowSum.add(sketch::withSign(Low, Signs, Lane));
    HighSum.add(sketch::withSign(High, Signs, Lane + 32));
  }
  Out->Sums[Lane] = LowSum.Value;
  Out->Sums[Lane + 32] = HighSum.Value;
  uint64_t Odd = Loader.Odd;
#pragma unroll
  for (unsigned Half = 16; Half > 0; Half /= 2)
    Odd += shuffle(Odd, Lane ^ Half);
  if (Lane == 0)
    Out->Odd = Odd;
}

/// Of the chunks of [Data, Data+Size) into Out. Data is 16-byte aligned, and
/// First its element's number in the buffer; Double: else it holds floats.
R3_KERNEL R3_BOUNDS(SketchThreads)
    r3_sketch(const uint8_t *Data, uint64_t Size, unsigned Double,
              uint64_t Seed, uint64_t First, Sketch *Out) {
  uint64_t Chunk = globalThread() / 32, Begin = Chunk * DeviceChunkBytes;
  if (Begin >= Size)
    return;
  uint64_t Left = Size - Begin;
  uint64_t Own = Left < DeviceChunkBytes ? Left : DeviceChunkBytes;
  if (Double)
    sketchChunk((const DoubleWord *)(Data + Begin), Own / 8, Seed,
                First + Begin / 8, Out + Chunk);
  else
    sketchChunk((const FloatWord *)(Data + Begin), Own / 4, Seed,
                First + Begin / 4, Out + Chunk);
}

// --- Pointer scan.

/// Sets the flags of the ranges that Value points into or one past the end of.
R3_DEVICE void markTargets(uint64_t Value, const DeviceRange *Ranges,
                           unsigned Count, uint8_t *Flags) {
  unsigned Low = 0, High = Count; // the last range that begins at or below
  while (High - Low > 1) {
    unsigned Middle = (Low + High) / 2;
    if (Ranges[Middle].Begin <= Value)
      Low = Middle;
    else
      High = Middle;
  }
  if (Value <= Ranges[Low].End && !Flags[Low])
    Flags[Low] = 1;
  // Where one range ends as the next begins, the address belongs to both.
  if (Low > 0 && Ranges[Low - 1].End == Value && !Flags[Low - 1])
    Flags[Low - 1] = 1;
}

/// Data is 4-byte aligned; Steps words of eight bytes begin at every fourth
/// byte. Ranges are sorted by Begin and disjoint, at least one.
R3_KERNEL R3_BOUNDS(ScanThreads)
    r3_scan_pointers(const Word32 *Data, uint64_t Steps,
                     const DeviceRange *Ranges, unsigned Count,
                     uint8_t *Flags) {
  uint64_t Lowest = Ranges[0].Begin, Span = Ranges[Count - 1].End - Lowest;
  uint64_t Stride = allThreads();
  for (uint64_t I = globalThread(); I < Steps; I += Stride) {
    uint64_t Value = uint64_t(Data[I + 1]) << 32 | Data[I];
    if (Value - Lowest <= Span)
      markTargets(Value, Ranges, Count, Flags);
  }
}

// --- Cache flush: writes, then reads a buffer larger than the cache.

R3_KERNEL R3_BOUNDS(FlushThreads)
    r3_flush_write(Vector *Buffer, uint64_t Vectors, unsigned Value) {
  uint64_t Stride = allThreads();
  for (uint64_t I = globalThread(); I < Vectors; I += Stride)
    Buffer[I] = Vector{Value, unsigned(I), Value, unsigned(I)};
}

R3_KERNEL R3_BOUNDS(FlushThreads)
    r3_flush_read(const Vector *Buffer, uint64_t Vectors, unsigned *Sink) {
  Vector Sum = {0, 0, 0, 0};
  uint64_t Stride = allThreads();
  for (uint64_t I = globalThread(); I < Vectors; I += Stride)
    Sum ^= Buffer[I];
  // Used, so that the reads stay.
  Sink[globalThread() % SinkWords] = Sum[0] ^ Sum[1] ^ Sum[2] ^ Sum[3];
}

// --- Rates: how fast the device reads and calculates at most.

/// From the cache that all multiprocessors share, or from memory.
R3_DEVICE Vector loadShared(const Vector *From) {
#ifdef __CUDA_ARCH__
  uint32_t A, B, C, D;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(A), "=r"(B), "=r"(C), "=r"(D)
               : "l"(From));
  return Vector{A, B, C, D};
#else
  return *From;
#endif
}

R3_KERNEL R3_BOUNDS(FlushThreads)
    r3_read(const Vector *Buffer, uint64_t Vectors, unsigned Times,
            unsigned *Sink) {
  Vector Sum = {0, 0, 0, 0};
  uint64_t Stride = allThreads();
  for (unsigned Time = 0; Time < Times; ++Time) {
    uint64_t I = globalThread();
    // Four loads are under way at a time.
    for (; I + 3 * Stride < Vectors; I += 4 * Stride) {
      const Vector *At = Buffer + I;
      Vector A = loadShared(At), B = loadShared(At + Stride);
      Vector C = loadShared(At + 2 * Stride), D = loadShared(At + 3 * Stride);
      Sum ^= A ^ B ^ C ^ D;
    }
    for (; I < Vectors; I += Stride)
      Sum ^= loadShared(Buffer + I);
  }
  Sink[globalThread() % SinkWords] = Sum[0] ^ Sum[1] ^ Sum[2] ^ Sum[3];
}

R3_DEVICE float fused(float A, float B, float C) {
  return __builtin_fmaf(A, B, C);
}
R3_DEVICE double fused(double A, double B, double C) {
  return __builtin_fma(A, B, C);
}

template <typename T> R3_DEVICE void multiplyAdd(unsigned Rounds, T *Sink) {
  T Values[ArithmeticChains];
  for (unsigned Chain = 0; Chain < ArithmeticChains; ++Chain)
    Values[Chain] = T(globalThread() + Chain);
  for (unsigned Round = 0; Round < Rounds; ++Round) {
#pragma unroll
    for (unsigned Step = 0; Step < ArithmeticSteps; ++Step) {
#pragma unroll
      for (unsigned Chain = 0; Chain < ArithmeticChains; ++Chain)
        Values[Chain] = fused(Values[Chain], T(0.5), T(1));
    }
  }
  T Sum = 0;
  for (unsigned Chain = 0; Chain < ArithmeticChains; ++Chain)
    Sum += Values[Chain];
  Sink[globalThread() % (SinkWords / 2)] = Sum;
}

R3_KERNEL R3_BOUNDS(ArithmeticThreads)
    r3_multiply_add_float(unsigned Rounds, float *Sink) {
  multiplyAdd(Rounds, Sink);
}

R3_KERNEL R3_BOUNDS(ArithmeticThreads)
    r3_multiply_add_double(unsigned Rounds, double *Sink) {
  multiplyAdd(Rounds, Sink);
}

R3_KERNEL R3_BOUNDS(ArithmeticThreads)
    r3_multiply_add_half(unsigned Rounds, HalfPair *Sink) {
  multiplyAdd(Rounds, Sink);
}

// --- Shared and local memory with a value that is left behind.

R3_KERNEL R3_BOUNDS(FillThreads)
    r3_fill_shared(unsigned Words, uint32_t Value) {
  R3_DYNAMIC_SHARED(volatile uint32_t, Memory);
  for (unsigned I = threadInBlock(); I < Words; I += blockThreads())
    Memory[I] = Value;
}

/// Frames begin at one end of a thread's local memory: a larger one covers
/// where smaller ones lie.
template <unsigned Bytes> R3_DEVICE void fillLocal(uint32_t Value) {
  [[maybe_unused]] volatile uint32_t Memory[Bytes / 4];
#pragma nounroll
  for (unsigned I = 0; I < Bytes / 4; ++I)
    Memory[I] = Value;
}

R3_KERNEL R3_BOUNDS(FillThreads) r3_fill_local_0(uint32_t Value) {
  fillLocal<FillLocalBytes[0]>(Value);
}
R3_KERNEL R3_BOUNDS(FillThreads) r3_fill_local_1(uint32_t Value) {
  fillLocal<FillLocalBytes[1]>(Value);
}
R3_KERNEL R3_BOUNDS(FillThreads) r3_fill_local_2(uint32_t Value) {
  fillLocal<FillLocalBytes[2]>(Value);
}

R3_KERNEL r3_empty() {}
