// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The devices of the process, attached when their context is first seen, and
// what the intercepted functions tell the recorder.
#include "runtime/record/Recorder.h"

#include <algorithm>

namespace r3::record {

static thread_local int Ordinal = 0;
void Recorder::deviceChosen(int Chosen) { Ordinal = Chosen; }
int Recorder::currentOrdinal() { return Ordinal; }

DeviceState *Recorder::currentDevice() {
  {
    std::shared_lock Guard(DevicesLock);
    for (auto &S : Devices)
      if (S->D.isCurrent())
        return S->Dead ? nullptr : S.get();
  }
  return attachDevice();
}

DeviceState *Recorder::attachDevice() {
  // A thread has no context before its first call: asked again at the next.
  // Other failures may pass, too, but are not tried for ever.
  constexpr unsigned MaxFailures = 16;
  if (AttachFailures >= MaxFailures)
    return nullptr;
  std::unique_lock Guard(DevicesLock);
  for (auto &S : Devices)
    if (S->D.isCurrent())
      return S->Dead ? nullptr : S.get();
  Expected<std::shared_ptr<Device>> D = Around.Attach();
  Error Failure = D ? Error::success() : D.error();
  if (!Failure) {
    Expected<StreamHandle> Own = (*D)->createStream();
    if (Own) {
      Devices.push_back(
          std::make_unique<DeviceState>(*D, *Own, Options.TimeoutMs));
      Statistics->setDevice(Devices.back()->Identity.Key);
      Devices.back()->Slabs.prepare(2 * Memory.liveBytes());
      return Devices.back().get();
    }
    Failure = Own.error();
  }
  if (Failure.code() == ErrorCode::NotFound)
    return nullptr;
  if (++AttachFailures == MaxFailures ||
      Failure.code() == ErrorCode::CannotRunHere)
    switchOff(Failure.message());
  return nullptr;
}

void Recorder::beforeReset() {
  DeviceState *S = currentDevice();
  bool Alone = Recording.take(Options.TimeoutMs);
  Out->drain();
  Memory.removeDevice(Ordinal);
  if (S && Alone)
    release(*S);
  if (Alone)
    Recording.give();
}

/// Gives up what lies in the context. The object stays: another thread may
/// hold it.
void Recorder::release(DeviceState &S) {
  S.Dead = true;
  Known.forget(S.D);
  S.Times.releaseAll();
  S.Reader.releaseAll();
  S.Slabs.releaseAll();
  std::unique_lock Guard(DevicesLock);
  auto It = std::find_if(Devices.begin(), Devices.end(),
                         [&](const auto &D) { return D.get() == &S; });
  if (It == Devices.end())
    return;
  Gone.push_back(std::move(*It));
  Devices.erase(It);
}

void Recorder::allocated(Address Begin, uint64_t Size, MemoryKind Kind,
                         bool Imported) {
  Memory.add({Begin, Size, Kind, Ordinal, Imported, {}});
  if (Captures > 0 || Off)
    return;
  // Staging memory for it, and for what a kernel may change, is made while
  // the program fills it.
  if (DeviceState *S = currentDevice())
    S->Slabs.prepare(2 * Memory.liveBytes());
}

void Recorder::imported(Address Begin) {
  uint64_t Size = 1;
  if (DeviceState *S = currentDevice())
    if (Expected<AddressRange> Range = S->D.allocationOf(Begin))
      Size = Range->Begin + Range->Size - Begin;
  Memory.add({Begin, Size, MemoryKind::Device, Ordinal, /*Imported=*/true, {}});
}

void Recorder::streamCreated(StreamHandle Stream) {
  DeviceState *S = currentDevice();
  Known.created(Stream, S ? &S->D : nullptr);
}

void Recorder::workIssued(StreamHandle Stream) {
  if (Stream != PerThreadStream || Captures > 0 || Off)
    return;
  if (DeviceState *S = currentDevice())
    Known.usedOwnStream(S->D);
}

void Recorder::collect() {
  if (Captures > 0 || Off)
    return;
  std::shared_lock Guard(DevicesLock);
  for (auto &S : Devices)
    if (S->Times.hasPending() && S->D.isCurrent() && !S->Dead)
      S->Times.collect();
}

void Recorder::refuse(const void *Handle, Reason Why) {
  KernelState *K = Program.find(Handle);
  if (!K)
    return;
  DeviceIdentity Where; // that of any device names the kernel well enough
  {
    std::shared_lock Guard(DevicesLock);
    if (!Devices.empty())
      Where = Devices.front()->Identity;
  }
  {
    std::lock_guard Guard(K->Lock);
    identify(*K, Where);
    describe(*K);
    ++K->Stats.Launches;
  }
  note(*K, Why, {});
}

void Recorder::configure(const void *Handle,
                         const std::function<void(KernelState &)> &Change) {
  if (KernelState *K = Program.find(Handle)) {
    std::lock_guard Guard(K->Lock);
    Change(*K);
  }
}

} // namespace r3::record
