// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine (CpuEngine.h) over its parts: memory, streams, kernels and the
// pool of processor threads.
#pragma once

#include "runtime/device/cpu/Kernels.h"
#include "runtime/device/cpu/Launch.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/device/cpu/Pool.h"
#include "runtime/device/cpu/Streams.h"

#include <set>

namespace r3::cpu {

class CpuDevice final : public Engine {
public:
  explicit CpuDevice(unsigned Threads);

  // Device.
  DeviceIdentity identity() const override;
  LaunchLimits limits() const override {
    return {MaxGrid, MaxBlock, MaxThreadsPerBlock, MaxSharedBytes, 0};
  }
  uint64_t granularity() const override { return 4096; }
  uint64_t reserveAlignment() const override { return 64 * 1024; }
  Expected<Address> reserve(Address Wanted, uint64_t Size) override {
    return Store.reserve(Wanted, Size);
  }
  Error unreserve(Address Where, uint64_t Size) override {
    return Store.unreserve(Where, Size);
  }
  Expected<MemoryHandle> createMemory(uint64_t Size) override {
    return Store.createMemory(Size);
  }
  Error releaseMemory(MemoryHandle Handle) override {
    return Store.releaseMemory(Handle);
  }
  Expected<int> exportMemory(MemoryHandle Handle) override {
    return Store.exportMemory(Handle);
  }
  Expected<MemoryHandle> importMemory(int Fd, uint64_t Size) override {
    return Store.importMemory(Fd, Size);
  }
  Error map(Address Where, uint64_t Size, MemoryHandle Handle) override {
    return Store.map(Where, Size, Handle);
  }
  Error protect(Address Where, uint64_t Size, MemoryAccess Access) override {
    return Store.protect(Where, Size, Access);
  }
  uint64_t protectionUnit() const override { return granularity(); }
  Error unmap(Address Where, uint64_t Size) override {
    return Store.unmap(Where, Size);
  }
  Expected<Address> allocate(uint64_t Size) override {
    return Store.allocate(Size, MemoryUse::Internal, 0);
  }
  Error free(Address Where) override { return Store.free(Where); }
  Expected<void *> allocateHost(uint64_t Size) override;
  Error freeHost(void *Where) override {
    return Store.free(reinterpret_cast<Address>(Where));
  }
  Expected<AddressRange> allocationOf(Address Where) override;
  void limitAccess(std::span<const AddressRange> Ranges) override {
    Store.limitAccess(Ranges);
  }

  Expected<StreamHandle> createStream() override {
    return createStreamWith(/*NonBlocking=*/true, 0);
  }
  Error destroyStream(StreamHandle Stream) override;
  Expected<EventHandle> createEvent(bool Timing) override;
  Error destroyEvent(EventHandle Event) override;
  Error record(EventHandle Event, StreamHandle Stream) override;
  Error recordLegacy(EventHandle Event) override;
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
  Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                   StreamHandle Stream) override;
  Error sketchChunks(Address Where, uint64_t Size, const SketchForm &Form,
                     Sketch *Out, StreamHandle Stream) override;
  Error scanPointers(Address Where, uint64_t Size,
                     std::span<const AddressRange> Targets, uint8_t *Out,
                     StreamHandle Stream) override;
  Error flushCache(StreamHandle Stream) override;
  Error hold(StreamHandle Stream, uint32_t *Word, uint32_t Value) override;
  Expected<KernelHandle> emptyKernel() override;
  Error readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                       StreamHandle Stream) override;

  Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t> Image) override;
  Expected<KernelInfo> info(KernelHandle Handle) override;
  Error launch(KernelHandle Handle, const LaunchConfig &Config,
               std::span<const uint8_t> Arguments,
               StreamHandle Stream) override;
  Error fillScratch(uint8_t Byte, uint32_t LocalBytes,
                    StreamHandle Stream) override;
  DeviceFault fault() override;
  Expected<AddressRange> globalOf(void *Function,
                                  const std::string &Name) override {
    return Units.globalOf(Function, Name);
  }

  // Engine.
  Expected<Address> allocateBlock(uint64_t Size, MemoryUse Use,
                                  uint32_t Tag) override {
    return Store.allocate(Size, Use, Tag);
  }
  Error freeBlock(Address Where) override { return Store.free(Where); }
  std::optional<MemoryBlock> findBlock(Address Where) const override {
    return Store.find(Where);
  }
  Error registerHost(void *Where, uint64_t Size, uint32_t Tag) override {
    return Store.registerHost(reinterpret_cast<Address>(Where), Size, Tag);
  }
  Error unregisterHost(void *Where) override {
    return Store.unregisterHost(reinterpret_cast<Address>(Where));
  }
  uint64_t freeBytes() const override { return Store.freeBytes(); }

  Expected<StreamHandle> createStreamWith(bool NonBlocking,
                                          int Priority) override;
  bool isStream(StreamHandle Stream) const override;
  bool isNonBlocking(StreamHandle Stream) const override;
  int priority(StreamHandle Stream) const override;
  Error enqueue(StreamHandle Stream, std::function<void()> Work) override;
  Error synchronizeStream(StreamHandle Stream) override;
  Error synchronizeDevice() override;
  Expected<bool> queryStream(StreamHandle Stream) override;
  bool isEvent(EventHandle Event) const override;
  bool isRecorded(EventHandle Event) const override;
  Error synchronizeEvent(EventHandle Event) override;

  void addUnit(const CpuUnit &Unit) override;
  void removeUnit(const void *Id) override;
  Expected<Kernel *> kernelOf(const void *Stub) override {
    return Units.kernelOf(Stub);
  }
  Error prepare(Kernel &K) override;
  Expected<AddressRange> globalByShadow(const void *HostVariable) override {
    return Units.globalByShadow(HostVariable);
  }
  Error launchKernel(Kernel &K, const LaunchConfig &Config,
                     std::span<const uint8_t> Arguments, StreamHandle Stream,
                     LaunchProblem &Problem) override;
  uint32_t maxCooperativeBlocks(uint32_t ThreadsPerBlock) const override;
  DeviceFault peekFault() const override;
  void clearFault() override;

private:
  Memory Store;
  Pool Processors;
  StreamSet Streams;
  UnitSet Units;
  DeviceIdentity Identity;
  mutable std::mutex Mutex; // of everything below
  std::map<EventHandle, std::shared_ptr<Event>> Events;
  DeviceFault Fault;
  bool Sticky = false;
  uint64_t NextGrid = 1;
  std::map<StreamHandle, Scratch> Scratches; // of the next launch
  std::multiset<std::pair<Address, uint64_t>> CodeData;
  std::mutex FlushMutex;
  std::vector<uint64_t> FlushBuffer; // twice the cache, once it is needed

  Error faultError() const;
  void noteFault(const DeviceFault &New);
  std::shared_ptr<Event> findEvent(EventHandle Handle) const;
  Error onStream(StreamHandle Stream, std::function<void()> Work, bool Inline);
  Error checkLaunch(const KernelImage &Image, const LaunchConfig &Config,
                    size_t ArgumentBytes, LaunchProblem &Problem) const;
  std::shared_ptr<AccessTable> accessTable(const LinkedCode &Code) const;
  void noteData(const LinkedCode &Code, bool Added);
};

/// One a call kind and stream: the error for a handle that is none.
Error noStream();

} // namespace r3::cpu
