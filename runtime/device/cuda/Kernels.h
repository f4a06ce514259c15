// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's own kernels (Kernels.cu) and the memory that they need: leaf
// hashes and sketches go through a buffer on the device, a scan's targets
// through a table that is kept as long as the targets stay the same. Buffers
// are reused in stream order; an event orders uses on different streams on the
// device, so that the host never waits, and nothing is freed before the
// destructor (freeing waits for the device). Any thread; the caller has made
// the context current.
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Driver.h"
#include "runtime/device/cuda/KernelAbi.h"

#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace r3 {

class CudaKernels {
public:
  using Checker = std::function<Error(CUresult, const char *)>;

  /// Loads the module into the current context; the driver translates it.
  static Expected<std::unique_ptr<CudaKernels>> load(const Driver &Api,
                                                     Checker Check,
                                                     unsigned Multiprocessors,
                                                     uint64_t L2Bytes);
  ~CudaKernels();

  /// Device.h: hashPieces.
  Error hashPieces(std::span<const AddressRange> Pieces, LeafHash *Out,
                   CUstream Stream);
  /// Device.h: sketchChunks.
  Error sketchChunks(Address Where, uint64_t Size, const SketchForm &Form,
                     Sketch *Out, CUstream Stream);
  Error scanPointers(Address Where, uint64_t Size,
                     std::span<const AddressRange> Targets, uint8_t *Out,
                     CUstream Stream);
  Error flushCache(CUstream Stream);
  Error empty(CUstream Stream);
  CUfunction emptyFunction() const { return Empty; }
  /// Device.h: fillScratch. SharedBytes: that a block can have at most.
  Error fillScratch(uint8_t Byte, uint32_t SharedBytes, uint32_t LocalBytes,
                    CUstream Stream);
  /// Device.h: readRepeatedly, multiplyAdd.
  Error read(Address Where, uint64_t Size, uint32_t Times, CUstream Stream);
  Expected<double> multiplyAdd(Device::Arithmetic What, uint32_t Rounds,
                               CUstream Stream);

private:
  struct Table;

  CudaKernels(const Driver &Api, Checker Check, unsigned Multiprocessors,
              uint64_t L2Bytes);
  Error start();
  Error check(CUresult Result, const char *Call) { return Check(Result, Call); }
  Error launch(CUfunction Function, uint64_t Blocks, unsigned Threads,
               CUstream Stream, void **Parameters, uint32_t SharedBytes = 0);
  Error hashTable(const HashTable &Table, uint64_t Warps, uint64_t Leaves,
                  LeafHash *Out, CUstream Stream);
  Error sketchSlice(Address Where, uint64_t Size, const SketchForm &Form,
                    Sketch *Out, CUstream Stream);
  Error scanWith(Table &T, Address Where, uint64_t Size, uint8_t *Out,
                 CUstream Stream);
  /// A table that holds Targets, or one that nobody uses any more, or a new
  /// one.
  Expected<Table *> tableFor(std::span<const AddressRange> Targets,
                             CUstream Stream);
  Expected<Table *> freeTable(size_t Count);
  Error fillTable(Table &T, std::span<const AddressRange> Targets,
                  CUstream Stream);
  Error allocateFlushBuffer();
  Error allocateSink();

  const Driver &Api;
  Checker Check;
  unsigned Multiprocessors;
  uint64_t L2Bytes;
  CUmodule Module = nullptr;
  CUfunction Hash = nullptr, MakeSketch = nullptr, Scan = nullptr,
             FlushWrite = nullptr, FlushRead = nullptr, Read = nullptr,
             FloatMultiplyAdd = nullptr, DoubleMultiplyAdd = nullptr,
             HalfMultiplyAdd = nullptr, FillShared = nullptr,
             FillLocal[std::size(FillLocalBytes)] = {}, Empty = nullptr;

  std::mutex Lock;              // of everything below
  CUdeviceptr Hashes = 0;       // or sketches
  CUevent HashesFree = nullptr; // after the last use of Hashes
  std::vector<std::unique_ptr<Table>> Tables;
  CUdeviceptr FlushBuffer = 0;
  uint64_t FlushBytes = 0;
  CUdeviceptr Sink = 0; // for sums that nobody needs
};

} // namespace r3
