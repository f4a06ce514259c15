// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cuda/Kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>

using namespace r3;

namespace r3 {
// Kernels.cu as PTX, from the build.
extern const uint8_t DeviceKernels[];
extern const uint64_t DeviceKernelsSize;
} // namespace r3

static_assert(DeviceLeafBytes == LeafBytes);
static_assert(sizeof(DeviceLeafHash) == sizeof(LeafHash));
static_assert(DeviceChunkBytes == ChunkBytes);

/// Targets of a scan on the device: ranges, then one flag each.
struct CudaKernels::Table {
  std::vector<DeviceRange> Ranges; // what is, or will be, on the device
  void *Staging = nullptr;         // pinned, as large as the ranges
  CUdeviceptr Device = 0;
  size_t Capacity = 0;
  CUevent LastUse = nullptr;

  CUdeviceptr flags() const { return Device + Capacity * sizeof(DeviceRange); }
};

namespace {

/// Leaves hashed at a time: 4 MiB of hashes stand for 1 GiB of memory.
constexpr uint64_t SliceLeaves = 256 * 1024;
/// Chunks sketched at a time, in the same buffer.
constexpr uint64_t SliceChunks =
    SliceLeaves * sizeof(DeviceLeafHash) / sizeof(Sketch);
constexpr size_t SmallestTable = 1024;
constexpr unsigned BlocksPerMultiprocessor = 16;
/// Of filling blocks: each multiprocessor gets one even where others are slow.
constexpr unsigned Waves = 4;
constexpr unsigned BlocksResident = 2; // of FillThreads

uint64_t ceilDivide(uint64_t Value, uint64_t By) {
  return (Value + By - 1) / By;
}

} // namespace

CudaKernels::CudaKernels(const Driver &Api, Checker Check,
                         unsigned Multiprocessors, uint64_t L2Bytes)
    : Api(Api), Check(std::move(Check)), Multiprocessors(Multiprocessors),
      L2Bytes(L2Bytes) {}

Expected<std::unique_ptr<CudaKernels>>
CudaKernels::load(const Driver &Api, Checker Check, unsigned Multiprocessors,
                  uint64_t L2Bytes) {
  std::unique_ptr<CudaKernels> K(
      new CudaKernels(Api, std::move(Check), Multiprocessors, L2Bytes));
  if (Error E = K->start())
    return E.in("R3's own device kernels");
  return K;
}

Error CudaKernels::start() {
  // The bytes are followed by no zero, which the driver needs.
  std::string Text(reinterpret_cast<const char *>(DeviceKernels),
                   DeviceKernelsSize);
  if (Error E = R3_CUDA_CALL(
          ModuleLoadDataEx(&Module, Text.c_str(), 0, nullptr, nullptr)))
    return E;
  struct {
    CUfunction *Function;
    const char *Name;
  } Rows[] = {{&Hash, "r3_hash_leaves"},
              {&MakeSketch, "r3_sketch"},
              {&Scan, "r3_scan_pointers"},
              {&FlushWrite, "r3_flush_write"},
              {&FlushRead, "r3_flush_read"},
              {&Read, "r3_read"},
              {&FloatMultiplyAdd, "r3_multiply_add_float"},
              {&DoubleMultiplyAdd, "r3_multiply_add_double"},
              {&HalfMultiplyAdd, "r3_multiply_add_half"},
              {&FillShared, "r3_fill_shared"},
              {&FillLocal[0], "r3_fill_local_0"},
              {&FillLocal[1], "r3_fill_local_1"},
              {&FillLocal[2], "r3_fill_local_2"},
              {&Empty, "r3_empty"}};
  for (auto &Row : Rows) {
    if (Error E =
            R3_CUDA_CALL(ModuleGetFunction(Row.Function, Module, Row.Name)))
      return E;
    // A lazily loaded function may wait for the device at its first launch.
    if (Api.FuncLoad)
      if (Error E = R3_CUDA_CALL(FuncLoad(*Row.Function)))
        return E;
  }
  if (Error E =
          R3_CUDA_CALL(MemAlloc(&Hashes, SliceLeaves * sizeof(DeviceLeafHash))))
    return E;
  return R3_CUDA_CALL(EventCreate(&HashesFree, CU_EVENT_DISABLE_TIMING));
}

CudaKernels::~CudaKernels() {
  for (const std::unique_ptr<Table> &T : Tables) {
    Api.EventDestroy(T->LastUse);
    Api.MemFree(T->Device);
    Api.MemFreeHost(T->Staging);
  }
  if (FlushBuffer)
    Api.MemFree(FlushBuffer);
  if (Sink)
    Api.MemFree(Sink);
  if (HashesFree)
    Api.EventDestroy(HashesFree);
  if (Hashes)
    Api.MemFree(Hashes);
  if (Module)
    Api.ModuleUnload(Module);
}

Error CudaKernels::launch(CUfunction Function, uint64_t Blocks,
                          unsigned Threads, CUstream Stream, void **Parameters,
                          uint32_t SharedBytes) {
  CUlaunchConfig Config = {};
  Config.gridDimX = unsigned(Blocks);
  Config.gridDimY = Config.gridDimZ = 1;
  Config.blockDimX = Threads;
  Config.blockDimY = Config.blockDimZ = 1;
  Config.sharedMemBytes = SharedBytes;
  Config.hStream = Stream;
  return R3_CUDA_CALL(
      LaunchKernelEx(&Config, Function, Parameters, /*extra=*/nullptr));
}

Error CudaKernels::empty(CUstream Stream) {
  return launch(Empty, /*Blocks=*/1, /*Threads=*/1, Stream, nullptr);
}

Error CudaKernels::hashPieces(std::span<const AddressRange> Pieces,
                              LeafHash *Out, CUstream Stream) {
  std::lock_guard Guard(Lock);
  if (Error E = R3_CUDA_CALL(StreamWaitEvent(Stream, HashesFree, /*Flags=*/0)))
    return E;
  HashTable Table = {};
  uint64_t Warps = 0, Leaves = 0;
  auto Flush = [&]() -> Error {
    if (Error E = hashTable(Table, Warps, Leaves, Out, Stream))
      return E;
    Out += Leaves;
    Table.Count = 0;
    Warps = Leaves = 0;
    return {};
  };
  for (const AddressRange &P : Pieces)
    for (uint64_t At = 0, Size; At < P.Size; At += Size) {
      if (Table.Count == HashTable::Most || Leaves == SliceLeaves)
        if (Error E = Flush())
          return E;
      Size = std::min((SliceLeaves - Leaves) * LeafBytes, P.Size - At);
      Table.List[Table.Count++] = {P.Begin + At, Size, Warps, Leaves};
      Warps += hashWarps(Size);
      Leaves += ceilDivide(Size, LeafBytes);
    }
  if (Error E = Flush())
    return E;
  return R3_CUDA_CALL(EventRecord(HashesFree, Stream));
}

Error CudaKernels::hashTable(const HashTable &Table, uint64_t Warps,
                             uint64_t Leaves, LeafHash *Out, CUstream Stream) {
  if (!Table.Count)
    return {};
  void *Parameters[] = {const_cast<HashTable *>(&Table), &Hashes};
  const uint64_t Blocks = ceilDivide(Warps, HashThreads / 32);
  if (Error E = launch(Hash, Blocks, HashThreads, Stream, Parameters))
    return E;
  return R3_CUDA_CALL(
      MemcpyDtoHAsync(Out, Hashes, Leaves * sizeof(LeafHash), Stream));
}

Error CudaKernels::sketchChunks(Address Where, uint64_t Size,
                                const SketchForm &Form, Sketch *Out,
                                CUstream Stream) {
  std::lock_guard Guard(Lock);
  if (Error E = R3_CUDA_CALL(StreamWaitEvent(Stream, HashesFree, /*Flags=*/0)))
    return E;
  const uint64_t Chunks = ceilDivide(Size, ChunkBytes);
  for (uint64_t First = 0; First < Chunks; First += SliceChunks) {
    const uint64_t At = First * ChunkBytes;
    if (Error E = sketchSlice(Where + At,
                              std::min(SliceChunks * ChunkBytes, Size - At),
                              Form.ofChunk(First), Out + First, Stream))
      return E;
  }
  return R3_CUDA_CALL(EventRecord(HashesFree, Stream));
}

Error CudaKernels::sketchSlice(Address Where, uint64_t Size,
                               const SketchForm &Form, Sketch *Out,
                               CUstream Stream) {
  unsigned Double = Form.Type == ValueType::F64;
  uint64_t Seed = Form.Seed, First = Form.FirstElement;
  void *Parameters[] = {&Where, &Size, &Double, &Seed, &First, &Hashes};
  const uint64_t Chunks = ceilDivide(Size, ChunkBytes);
  if (Error E = launch(MakeSketch, ceilDivide(Chunks, SketchThreads / 32),
                       SketchThreads, Stream, Parameters))
    return E;
  return R3_CUDA_CALL(
      MemcpyDtoHAsync(Out, Hashes, Chunks * sizeof(Sketch), Stream));
}

Error CudaKernels::scanPointers(Address Where, uint64_t Size,
                                std::span<const AddressRange> Targets,
                                uint8_t *Out, CUstream Stream) {
  // Pointers lie at multiples of four.
  uint64_t Skip = -Where % 4;
  if (Targets.empty() || Size < Skip + sizeof(uint64_t))
    return Error::success();
  std::lock_guard Guard(Lock);
  Expected<Table *> T = tableFor(Targets, Stream);
  if (!T)
    return T.error();
  return scanWith(**T, Where + Skip, Size - Skip, Out, Stream);
}

Error CudaKernels::scanWith(Table &T, Address Where, uint64_t Size,
                            uint8_t *Out, CUstream Stream) {
  CUdeviceptr Flags = T.flags();
  unsigned Count = unsigned(T.Ranges.size());
  uint64_t Steps = (Size - sizeof(uint64_t)) / 4 + 1;
  uint64_t Blocks =
      std::min<uint64_t>(ceilDivide(Steps, ScanThreads),
                         uint64_t(Multiprocessors) * BlocksPerMultiprocessor);
  void *Parameters[] = {&Where, &Steps, &T.Device, &Count, &Flags};
  // What is set in Out stays set: the flags go there and back.
  if (Error E = R3_CUDA_CALL(MemcpyHtoDAsync(Flags, Out, Count, Stream)))
    return E;
  if (Error E = launch(Scan, Blocks, ScanThreads, Stream, Parameters))
    return E;
  if (Error E = R3_CUDA_CALL(MemcpyDtoHAsync(Out, Flags, Count, Stream)))
    return E;
  return R3_CUDA_CALL(EventRecord(T.LastUse, Stream));
}

namespace {

bool sameRanges(std::span<const DeviceRange> Have,
                std::span<const AddressRange> Want) {
  return std::equal(Have.begin(), Have.end(), Want.begin(), Want.end(),
                    [](const DeviceRange &H, const AddressRange &W) {
                      return H.Begin == W.Begin && H.End == W.Begin + W.Size;
                    });
}

} // namespace

Expected<CudaKernels::Table *>
CudaKernels::tableFor(std::span<const AddressRange> Targets, CUstream Stream) {
  for (const std::unique_ptr<Table> &T : Tables)
    if (sameRanges(T->Ranges, Targets)) {
      if (Error E = R3_CUDA_CALL(StreamWaitEvent(Stream, T->LastUse, 0)))
        return E;
      return T.get();
    }
  Expected<Table *> T = freeTable(Targets.size());
  if (!T)
    return T;
  if (Error E = fillTable(**T, Targets, Stream)) {
    (*T)->Ranges.clear();
    return E;
  }
  return T;
}

Expected<CudaKernels::Table *> CudaKernels::freeTable(size_t Count) {
  for (const std::unique_ptr<Table> &T : Tables)
    if (T->Capacity >= Count && Api.EventQuery(T->LastUse) == CUDA_SUCCESS)
      return T.get();
  auto T = std::make_unique<Table>();
  T->Capacity = std::bit_ceil(std::max(Count, SmallestTable));
  uint64_t Bytes = T->Capacity * sizeof(DeviceRange);
  if (Error E = R3_CUDA_CALL(MemAlloc(&T->Device, Bytes + T->Capacity)))
    return E;
  Error E = R3_CUDA_CALL(MemHostAlloc(&T->Staging, Bytes, 0));
  if (!E)
    E = R3_CUDA_CALL(EventCreate(&T->LastUse, CU_EVENT_DISABLE_TIMING));
  if (!E) {
    Tables.push_back(std::move(T));
    return Tables.back().get();
  }
  Api.MemFree(T->Device);
  if (T->Staging)
    Api.MemFreeHost(T->Staging);
  return E;
}

Error CudaKernels::fillTable(Table &T, std::span<const AddressRange> Targets,
                             CUstream Stream) {
  T.Ranges.clear();
  for (const AddressRange &Target : Targets)
    T.Ranges.push_back({Target.Begin, Target.Begin + Target.Size});
  uint64_t Bytes = T.Ranges.size() * sizeof(DeviceRange);
  memcpy(T.Staging, T.Ranges.data(), Bytes);
  if (Error E =
          R3_CUDA_CALL(MemcpyHtoDAsync(T.Device, T.Staging, Bytes, Stream)))
    return E;
  return R3_CUDA_CALL(EventRecord(T.LastUse, Stream));
}

Error CudaKernels::allocateSink() {
  if (Sink)
    return Error::success();
  return R3_CUDA_CALL(MemAlloc(&Sink, SinkWords * sizeof(unsigned)));
}

Error CudaKernels::allocateFlushBuffer() {
  if (FlushBuffer)
    return Error::success();
  FlushBytes = 2 * std::max<uint64_t>(L2Bytes, 1 << 20);
  return R3_CUDA_CALL(MemAlloc(&FlushBuffer, FlushBytes));
}

Error CudaKernels::flushCache(CUstream Stream) {
  std::lock_guard Guard(Lock);
  if (Error E = allocateFlushBuffer())
    return E;
  if (Error E = allocateSink())
    return E;
  uint64_t Vectors = FlushBytes / 16;
  uint64_t Blocks = uint64_t(Multiprocessors) * BlocksPerMultiprocessor;
  unsigned Value = 1;
  void *WriteParameters[] = {&FlushBuffer, &Vectors, &Value};
  void *ReadParameters[] = {&FlushBuffer, &Vectors, &Sink};
  if (Error E =
          launch(FlushWrite, Blocks, FlushThreads, Stream, WriteParameters))
    return E;
  return launch(FlushRead, Blocks, FlushThreads, Stream, ReadParameters);
}

Error CudaKernels::read(Address Where, uint64_t Size, uint32_t Times,
                        CUstream Stream) {
  std::lock_guard Guard(Lock);
  if (Error E = allocateSink())
    return E;
  uint64_t Vectors = Size / 16;
  uint64_t Blocks = uint64_t(Multiprocessors) * BlocksPerMultiprocessor;
  void *Parameters[] = {&Where, &Vectors, &Times, &Sink};
  return launch(Read, Blocks, FlushThreads, Stream, Parameters);
}

Expected<double> CudaKernels::multiplyAdd(Device::Arithmetic What,
                                          uint32_t Rounds, CUstream Stream) {
  std::lock_guard Guard(Lock);
  if (Error E = allocateSink())
    return E;
  uint64_t Blocks = uint64_t(Multiprocessors) * BlocksPerMultiprocessor;
  void *Parameters[] = {&Rounds, &Sink};
  const bool Half = What == Device::Arithmetic::Half;
  if (Error E = launch(Half                                ? HalfMultiplyAdd
                       : What == Device::Arithmetic::Float ? FloatMultiplyAdd
                                                           : DoubleMultiplyAdd,
                       Blocks, ArithmeticThreads, Stream, Parameters))
    return E;
  return double(Blocks) * ArithmeticThreads * ArithmeticOperations * Rounds *
         (Half ? 2 : 1);
}

/// A block that has all the shared memory that a block can have is alone on its
/// multiprocessor, so the first of them go to all multiprocessors. Blocks of
/// the others fill them with threads.
Error CudaKernels::fillScratch(uint8_t Byte, uint32_t SharedBytes,
                               uint32_t LocalBytes, CUstream Stream) {
  uint32_t Value = Byte * 0x01010101u, Words = SharedBytes / 4;
  void *Parameters[] = {&Value};
  if (LocalBytes) {
    size_t Size = 0;
    while (Size + 1 < std::size(FillLocalBytes) &&
           FillLocalBytes[Size] < LocalBytes)
      ++Size;
    if (Error E = launch(FillLocal[Size],
                         uint64_t(Multiprocessors) * Waves * BlocksResident,
                         FillThreads, Stream, Parameters))
      return E;
  }
  void *SharedParameters[] = {&Words, &Value};
  if (Error E = R3_CUDA_CALL(FuncSetAttribute(
          FillShared, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
          int(SharedBytes))))
    return E;
  return launch(FillShared, uint64_t(Multiprocessors) * Waves, FillThreads,
                Stream, SharedParameters, SharedBytes);
}
