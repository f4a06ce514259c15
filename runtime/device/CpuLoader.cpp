// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the CPU device. It lives in libr3-cpu.so, the only library of the
// runtime that needs LLVM, which is loaded here and never unloaded. The engine
// in it is one a process; what callers get is a handle that forwards to it.
#include "runtime/device/Device.h"
#include "runtime/device/cpu/CpuAbi.h"
#include "runtime/support/Process.h"

#include <dlfcn.h>

namespace r3 {

namespace {

/// Forwards to the process's engine, which outlives every handle.
class CpuHandle final : public Device {
public:
  explicit CpuHandle(Device &Engine) : Engine(Engine) {}

  DeviceIdentity identity() const override { return Engine.identity(); }
  uint64_t granularity() const override { return Engine.granularity(); }
  uint64_t reserveAlignment() const override {
    return Engine.reserveAlignment();
  }
  Expected<Address> reserve(Address Wanted, uint64_t Size) override {
    return Engine.reserve(Wanted, Size);
  }
  Error unreserve(Address Where, uint64_t Size) override {
    return Engine.unreserve(Where, Size);
  }
  Expected<MemoryHandle> createMemory(uint64_t Size) override {
    return Engine.createMemory(Size);
  }
  Error releaseMemory(MemoryHandle Memory) override {
    return Engine.releaseMemory(Memory);
  }
  Expected<int> exportMemory(MemoryHandle Memory) override {
    return Engine.exportMemory(Memory);
  }
  Expected<MemoryHandle> importMemory(int Fd, uint64_t Size) override {
    return Engine.importMemory(Fd, Size);
  }
  Error map(Address Where, uint64_t Size, MemoryHandle Memory) override {
    return Engine.map(Where, Size, Memory);
  }
  Error protect(Address Where, uint64_t Size, MemoryAccess Access) override {
    return Engine.protect(Where, Size, Access);
  }
  uint64_t protectionUnit() const override { return Engine.protectionUnit(); }
  Error unmap(Address Where, uint64_t Size) override {
    return Engine.unmap(Where, Size);
  }
  Expected<Address> allocate(uint64_t Size) override {
    return Engine.allocate(Size);
  }
  Error free(Address Where) override { return Engine.free(Where); }
  Expected<void *> allocateHost(uint64_t Size) override {
    return Engine.allocateHost(Size);
  }
  Error freeHost(void *Where) override { return Engine.freeHost(Where); }
  Expected<AddressRange> allocationOf(Address Where) override {
    return Engine.allocationOf(Where);
  }
  Expected<StreamHandle> createStream() override {
    return Engine.createStream();
  }
  Error destroyStream(StreamHandle Stream) override {
    return Engine.destroyStream(Stream);
  }
  Expected<EventHandle> createEvent(bool Timing) override {
    return Engine.createEvent(Timing);
  }
  Error destroyEvent(EventHandle Event) override {
    return Engine.destroyEvent(Event);
  }
  Error record(EventHandle Event, StreamHandle Stream) override {
    return Engine.record(Event, Stream);
  }
  Error wait(StreamHandle Stream, EventHandle Event) override {
    return Engine.wait(Stream, Event);
  }
  Expected<bool> query(EventHandle Event) override {
    return Engine.query(Event);
  }
  Expected<double> elapsedMs(EventHandle Begin, EventHandle End) override {
    return Engine.elapsedMs(Begin, End);
  }
  Error copyToHost(void *To, Address From, uint64_t Size,
                   StreamHandle Stream) override {
    return Engine.copyToHost(To, From, Size, Stream);
  }
  Error copyToDevice(Address To, const void *From, uint64_t Size,
                     StreamHandle Stream) override {
    return Engine.copyToDevice(To, From, Size, Stream);
  }
  Error copy(Address To, Address From, uint64_t Size,
             StreamHandle Stream) override {
    return Engine.copy(To, From, Size, Stream);
  }
  Error fill(Address Where, uint8_t Byte, uint64_t Size,
             StreamHandle Stream) override {
    return Engine.fill(Where, Byte, Size, Stream);
  }
  Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                   StreamHandle Stream) override {
    return Engine.hashLeaves(Where, Size, Out, Stream);
  }
  Error sketchChunks(Address Where, uint64_t Size, const SketchForm &Form,
                     Sketch *Out, StreamHandle Stream) override {
    return Engine.sketchChunks(Where, Size, Form, Out, Stream);
  }
  Error scanPointers(Address Where, uint64_t Size,
                     std::span<const AddressRange> Targets, uint8_t *Out,
                     StreamHandle Stream) override {
    return Engine.scanPointers(Where, Size, Targets, Out, Stream);
  }
  Error flushCache(StreamHandle Stream) override {
    return Engine.flushCache(Stream);
  }
  Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t> Image) override {
    return Engine.load(Image);
  }
  Expected<KernelInfo> info(KernelHandle Kernel) override {
    return Engine.info(Kernel);
  }
  Error launch(KernelHandle Kernel, const LaunchConfig &Config,
               std::span<const uint8_t> Arguments,
               StreamHandle Stream) override {
    return Engine.launch(Kernel, Config, Arguments, Stream);
  }
  Error fillScratch(uint8_t Byte, uint32_t LocalBytes,
                    StreamHandle Stream) override {
    return Engine.fillScratch(Byte, LocalBytes, Stream);
  }
  DeviceFault fault() override { return Engine.fault(); }
  Error hold(StreamHandle Stream, uint32_t *Word, uint32_t Value) override {
    return Engine.hold(Stream, Word, Value);
  }
  Expected<KernelHandle> emptyKernel() override { return Engine.emptyKernel(); }
  Error readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                       StreamHandle Stream) override {
    return Engine.readRepeatedly(Where, Size, Times, Stream);
  }
  void limitAccess(std::span<const AddressRange> Ranges) override {
    Engine.limitAccess(Ranges);
  }
  Error recordLegacy(EventHandle Event) override {
    return Engine.recordLegacy(Event);
  }
  Expected<AddressRange> globalOf(void *Function,
                                  const std::string &Name) override {
    return Engine.globalOf(Function, Name);
  }

private:
  Device &Engine;
};

Error cannotOpen(const std::string &Path) {
  const char *Why = dlerror();
  return fail(ErrorCode::CannotRunHere, "cannot open the CPU device %s: %s",
              Path.c_str(), Why ? Why : "unknown reason");
}

} // namespace

Expected<std::unique_ptr<Device>> openCpuDevice() {
  std::string Path = installationPath("lib/libr3-cpu.so");
  void *Library = dlopen(Path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!Library)
    return cannotOpen(Path);
  auto *Get = reinterpret_cast<decltype(&__r3_cpu_device)>(
      dlsym(Library, "__r3_cpu_device"));
  if (!Get)
    return cannotOpen(Path);
  return std::unique_ptr<Device>(std::make_unique<CpuHandle>(*Get()));
}

} // namespace r3
