// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device over the CUDA driver API. Every public function enters a Scope, which
// makes the device's context current in the calling thread and puts back what
// was current before; inside a user's program it also relaxes the thread's
// capture mode for the time of the call, so that a capture elsewhere in the
// program is not disturbed. Nothing here waits for the device, except the
// driver's own unmap, free and pageable copies; waiting is done by polling
// (Device::waitFor).
#pragma once

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Driver.h"
#include "runtime/device/cuda/Kernels.h"
#include "runtime/device/cuda/Nvml.h"

#include <mutex>
#include <optional>

namespace r3 {

struct CudaKernel; // CudaModule.h

class CudaDevice final : public Device {
public:
  /// A device of this process's own: cuInit, the primary context retained and
  /// current in the calling thread.
  static Expected<std::unique_ptr<Device>> open(int Ordinal);
  /// The device of the calling thread's current context.
  static Expected<std::unique_ptr<Device>> attach();
  ~CudaDevice() override;

  DeviceIdentity identity() const override { return Identity; }
  LaunchLimits limits() const override { return Limits; }
  uint64_t granularity() const override { return Granularity; }
  uint64_t reserveAlignment() const override { return 32ull << 20; }

  Expected<Address> reserve(Address Wanted, uint64_t Size) override;
  Error unreserve(Address Where, uint64_t Size) override;
  Expected<MemoryHandle> createMemory(uint64_t Size) override;
  Error releaseMemory(MemoryHandle Memory) override;
  Expected<int> exportMemory(MemoryHandle Memory) override;
  Expected<MemoryHandle> importMemory(int Fd, uint64_t Size) override;
  Error map(Address Where, uint64_t Size, MemoryHandle Memory) override;
  Error protect(Address Where, uint64_t Size, MemoryAccess Access) override;
  uint64_t protectionUnit() const override { return 0; }
  Error unmap(Address Where, uint64_t Size) override;

  Expected<Address> allocate(uint64_t Size) override;
  Error free(Address Where) override;
  Expected<void *> allocateHost(uint64_t Size) override;
  Error freeHost(void *Where) override;
  Expected<AddressRange> allocationOf(Address Where) override;

  Expected<StreamHandle> createStream() override;
  Error destroyStream(StreamHandle Stream) override;
  Expected<EventHandle> createEvent(bool Timing) override;
  Error destroyEvent(EventHandle Event) override;
  Error record(EventHandle Event, StreamHandle Stream) override;
  Error wait(StreamHandle Stream, EventHandle Event) override;
  Expected<bool> query(EventHandle Event) override;
  Expected<double> elapsedMs(EventHandle Begin, EventHandle End) override;
  Error copyToHost(void *To, Address From, uint64_t Size,
                   StreamHandle Stream) override;
  Error copyToDevice(Address To, const void *From, uint64_t Size,
                     StreamHandle Stream) override;
  Error copy(Address To, Address From, uint64_t Size,
             StreamHandle Stream) override;
  Error fill(Address Where, uint8_t Byte, uint64_t Size,
             StreamHandle Stream) override;
  Error fillRows(Address Where, uint64_t Pitch, uint8_t Byte, uint64_t Width,
                 uint64_t Rows, StreamHandle Stream) override;

  Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                   StreamHandle Stream) override {
    const AddressRange Piece{Where, Size};
    return hashPieces({&Piece, 1}, Out, Stream);
  }
  Error hashPieces(std::span<const AddressRange> Pieces, LeafHash *Out,
                   StreamHandle Stream) override;
  Error sketchChunks(Address Where, uint64_t Size, const SketchForm &Form,
                     Sketch *Out, StreamHandle Stream) override;
  Error scanPointers(Address Where, uint64_t Size,
                     std::span<const AddressRange> Targets, uint8_t *Out,
                     StreamHandle Stream) override;
  Error flushCache(StreamHandle Stream) override;

  Error hold(StreamHandle Stream, uint32_t *Word, uint32_t Value) override;
  Expected<KernelHandle> emptyKernel() override;
  Expected<ClockSample> clocks() override;
  Error readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                       StreamHandle Stream) override;
  Expected<double> multiplyAdd(Arithmetic What, uint32_t Rounds,
                               StreamHandle Stream) override;

  Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t> Image) override;
  Expected<KernelInfo> info(KernelHandle Kernel) override;
  Error launch(KernelHandle Kernel, const LaunchConfig &Config,
               std::span<const uint8_t> Arguments,
               StreamHandle Stream) override;
  Error fillScratch(uint8_t Byte, uint32_t LocalBytes,
                    StreamHandle Stream) override;
  DeviceFault fault() override;

  bool isCurrent() override;
  bool isCapturing(StreamHandle Stream) override;
  Error recordLegacy(EventHandle Event) override;
  Expected<AddressRange> globalOf(void *Function,
                                  const std::string &Name) override;

private:
  friend class CudaModule;
  class Scope;

  CudaDevice(const Driver &Api, CUcontext Context, CUdevice Ordinal, bool Owns);
  /// Identity, kernels and streams of its own; all that can fail.
  Error start();
  Error readIdentity();
  Error readLimits();
  Expected<int> attribute(CUdevice_attribute Which);
  CUmemAllocationProp memoryProperties() const;
  Error globalIn(CUmodule Module, const std::string &Name, AddressRange &Range);
  /// An error where the driver call failed; remembers the fault.
  Error check(CUresult Result, const char *Call);

  const Driver &Api;
  CUcontext Context;
  CUdevice Ordinal;
  bool Owns;
  DeviceIdentity Identity;
  LaunchLimits Limits;
  uint64_t Granularity = 0;
  std::unique_ptr<CudaKernels> Kernels;
  CUstream BehindLegacy = nullptr; // a blocking stream, for recordLegacy
  std::unique_ptr<CudaKernel> Empty;
  std::optional<Expected<Nvml>> Management; // once it was asked for
  std::mutex FaultLock;
  DeviceFault LastFault;
};

/// Enter at the beginning of every function that calls the driver.
class CudaDevice::Scope {
public:
  explicit Scope(const CudaDevice &D);
  ~Scope();
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  const CudaDevice &D;
  bool Pushed = false;
  CUstreamCaptureMode Mode = CU_STREAM_CAPTURE_MODE_RELAXED;
};

} // namespace r3
