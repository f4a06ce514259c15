// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device in this process over ordinary memory, for the recorder's tests:
// work runs at once, streams can be held busy, a device function can be made
// to fail, and a test can look in at each digest.
#pragma once

#include "runtime/device/Device.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace r3::record {

class FakeDevice final : public Device {
public:
  struct Event {
    StreamHandle Behind = nullptr;
    bool Waits = false;
    double Ms = 0;
  };

  // --- For the tests.

  /// Work on the stream does not complete until it is released.
  void hold(StreamHandle Stream) {
    with([&] { Busy.insert(Stream); });
  }
  void release(StreamHandle Stream) {
    with([&] { Busy.erase(Stream); });
  }
  std::function<void(unsigned)> OnHash; // number of the call, from 1
  std::function<void(Address, uint64_t)> OnCopy;
  bool Sick = false;  // every query fails, as after a fault
  double ClockMs = 0; // advanced by the test's kernels
  bool Capturing = false;
  std::string Backend = "cpu";
  std::vector<AddressRange> ForeignMemory; // known to allocationOf alone
  uint64_t BytesCopied = 0;
  unsigned Hashes = 0;

  // --- Device.

  DeviceIdentity identity() const override {
    DeviceIdentity I;
    I.Backend = Backend;
    I.Name = "fake";
    I.Arch = "sm_90";
    I.Key = "fake";
    return I;
  }
  uint64_t protectionUnit() const override { return 0; }
  uint64_t granularity() const override { return 4096; }
  uint64_t reserveAlignment() const override { return 4096; }
  Expected<Address> reserve(Address, uint64_t) override { return no(); }
  Error unreserve(Address, uint64_t) override { return no(); }
  Expected<MemoryHandle> createMemory(uint64_t) override { return no(); }
  Error releaseMemory(MemoryHandle) override { return no(); }
  Expected<int> exportMemory(MemoryHandle) override { return no(); }
  Expected<MemoryHandle> importMemory(int, uint64_t) override { return no(); }
  Error map(Address, uint64_t, MemoryHandle) override { return no(); }
  Error protect(Address, uint64_t, MemoryAccess) override { return no(); }
  Error unmap(Address, uint64_t) override { return no(); }
  Expected<Address> allocate(uint64_t) override { return no(); }
  Error free(Address) override { return no(); }
  Expected<void *> allocateHost(uint64_t Size) override {
    std::lock_guard Guard(Lock);
    auto Memory = std::make_unique_for_overwrite<uint8_t[]>(Size);
    void *Where = Memory.get();
    HostMemory.emplace(Where, std::move(Memory));
    return Where;
  }
  Error freeHost(void *Where) override {
    std::lock_guard Guard(Lock);
    return HostMemory.erase(Where) ? Error::success() : no();
  }
  Expected<AddressRange> allocationOf(Address Where) override {
    for (AddressRange R : ForeignMemory)
      if (Where >= R.Begin && Where < R.Begin + R.Size)
        return R;
    return fail(ErrorCode::NotFound, "no device memory");
  }

  Expected<StreamHandle> createStream() override {
    static uintptr_t Next = 0x1000;
    return reinterpret_cast<StreamHandle>(Next += 16);
  }
  Error destroyStream(StreamHandle) override { return Error::success(); }
  Expected<EventHandle> createEvent(bool) override {
    std::lock_guard Guard(Lock);
    Events.push_back(std::make_unique<Event>());
    return Events.back().get();
  }
  Error destroyEvent(EventHandle) override { return Error::success(); }
  Error record(EventHandle E, StreamHandle Stream) override {
    std::lock_guard Guard(Lock);
    auto *Ev = static_cast<Event *>(E);
    *Ev = {Stream, true, ClockMs};
    return Error::success();
  }
  Error wait(StreamHandle, EventHandle) override { return Error::success(); }
  Expected<bool> query(EventHandle E) override {
    std::lock_guard Guard(Lock);
    if (Sick)
      return fail(ErrorCode::Failed, "illegal access");
    return !Busy.count(static_cast<Event *>(E)->Behind);
  }
  Expected<double> elapsedMs(EventHandle A, EventHandle B) override {
    std::lock_guard Guard(Lock);
    return static_cast<Event *>(B)->Ms - static_cast<Event *>(A)->Ms;
  }
  Error copyToHost(void *To, Address From, uint64_t Size,
                   StreamHandle) override {
    if (OnCopy)
      OnCopy(From, Size);
    std::memcpy(To, reinterpret_cast<void *>(From), Size);
    BytesCopied += Size;
    return Error::success();
  }
  Error copyToDevice(Address, const void *, uint64_t, StreamHandle) override {
    return no();
  }
  Error copy(Address, Address, uint64_t, StreamHandle) override { return no(); }
  Error fill(Address, uint8_t, uint64_t, StreamHandle) override { return no(); }
  Error hashLeaves(Address Where, uint64_t Size, LeafHash *Out,
                   StreamHandle) override {
    if (OnHash)
      OnHash(++Hashes);
    for (uint64_t At = 0; At < Size; At += LeafBytes)
      *Out++ = leafHash({reinterpret_cast<uint8_t *>(Where) + At,
                         std::min<uint64_t>(LeafBytes, Size - At)});
    return Error::success();
  }
  Error scanPointers(Address Where, uint64_t Size,
                     std::span<const AddressRange> Targets, uint8_t *Out,
                     StreamHandle) override {
    for (uint64_t At = 0; At + 8 <= Size; At += 4) {
      uint64_t Word;
      std::memcpy(&Word, reinterpret_cast<uint8_t *>(Where) + At, 8);
      for (size_t I = 0; I < Targets.size(); ++I)
        if (Word >= Targets[I].Begin &&
            Word <= Targets[I].Begin + Targets[I].Size)
          Out[I] = 1;
    }
    return Error::success();
  }
  Error flushCache(StreamHandle) override { return no(); }
  Expected<std::unique_ptr<DeviceModule>>
  load(std::span<const uint8_t>) override {
    return no();
  }
  Expected<KernelInfo> info(KernelHandle) override { return no(); }
  Error launch(KernelHandle, const LaunchConfig &, std::span<const uint8_t>,
               StreamHandle) override {
    return no();
  }
  DeviceFault fault() override {
    return {Sick ? Outcome::IllegalAccess : Outcome::Ok, "", Sick};
  }
  bool isCapturing(StreamHandle) override { return Capturing; }

private:
  static Error no() { return fail(ErrorCode::Failed, "not in a fake device"); }
  template <typename F> void with(F Do) {
    std::lock_guard Guard(Lock);
    Do();
  }

  std::mutex Lock;
  std::set<StreamHandle> Busy;
  std::vector<std::unique_ptr<Event>> Events;
  std::map<void *, std::unique_ptr<uint8_t[]>> HostMemory; // freed with us
};

} // namespace r3::record
