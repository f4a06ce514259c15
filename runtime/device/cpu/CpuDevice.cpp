// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identity, streams and events, faults, and what libr3-cpu.so exports. Copies
// and scans are in DeviceMemory.cpp, launches in DeviceLaunch.cpp.
#include "runtime/device/cpu/CpuDevice.h"

#include "runtime/support/Options.h"
#include "runtime/support/Protocol.h"

#include "llvm/Config/llvm-config.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <thread>
#include <unistd.h>

namespace r3::cpu {

// --- Identity.

static std::string processorName() {
  std::ifstream Info("/proc/cpuinfo");
  for (std::string Line; std::getline(Info, Line);)
    if (Line.rfind("model name", 0) == 0)
      if (size_t Colon = Line.find(": "); Colon != std::string::npos)
        return Line.substr(Colon + 2);
  return "unknown processor";
}

/// The level of x86-64 that the processor has.
static std::string architecture() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("x86-64-v4"))
    return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3"))
    return "x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2"))
    return "x86-64-v2";
  return "x86-64";
#else
  return "unknown";
#endif
}

/// The cache that a flush has to replace: the last level, of which a virtual
/// machine is told all but has a small part.
static uint64_t cacheBytes() {
  constexpr uint64_t Most = 64ull << 20;
  for (int Name : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE})
    if (long Size = sysconf(Name); Size > 0)
      return std::min(static_cast<uint64_t>(Size), Most);
  return Most;
}

CpuDevice::CpuDevice(unsigned Threads) : Processors(Threads), Units(Store) {
  Identity.Backend = "cpu";
  Identity.Name = processorName();
  Identity.Arch = architecture();
  Identity.Multiprocessors = Processors.threads();
  Identity.L2Bytes = cacheBytes();
  Identity.MemoryBytes = Store.totalBytes();
  Identity.Tools = "LLVM " LLVM_VERSION_STRING;
  Identity.Key =
      format("%s %s %u threads %lluMB", Identity.Arch.c_str(),
             Identity.Name.c_str(), Identity.Multiprocessors,
             static_cast<unsigned long long>(Identity.L2Bytes >> 20));
}

DeviceIdentity CpuDevice::identity() const { return Identity; }

Engine &Engine::get() {
  // Never destroyed: its threads and the program's last calls outlive statics.
  static CpuDevice *Instance = [] {
    uint64_t Threads = 0;
    if (Expected<Environment> Variables = Environment::read())
      Threads = Variables->number("R3_CPU_THREADS");
    if (!Threads)
      Threads = static_cast<uint64_t>(sysconf(_SC_NPROCESSORS_ONLN));
    return new CpuDevice(
        static_cast<unsigned>(std::clamp<uint64_t>(Threads, 1, 1024)));
  }();
  return *Instance;
}

// --- Faults.

Error CpuDevice::faultError() const {
  std::lock_guard Lock(Mutex);
  if (Fault.Kind == Outcome::Ok)
    return Error::success();
  return Error(ErrorCode::Failed, Fault.Message);
}

void CpuDevice::noteFault(const DeviceFault &New) {
  std::lock_guard Lock(Mutex);
  if (Fault.Kind != Outcome::Ok || New.Kind == Outcome::Ok)
    return;
  Fault = New;
  Fault.Sticky = Sticky;
}

DeviceFault CpuDevice::peekFault() const {
  std::lock_guard Lock(Mutex);
  return Fault;
}

DeviceFault CpuDevice::fault() {
  std::lock_guard Lock(Mutex);
  DeviceFault Result = Fault;
  if (!Fault.Sticky)
    Fault = {};
  return Result;
}

void CpuDevice::clearFault() {
  std::lock_guard Lock(Mutex);
  Fault = {};
}

// --- Streams.

Error noStream() { return fail(ErrorCode::Usage, "not a stream"); }

Error CpuDevice::onStream(StreamHandle Handle, std::function<void()> Work,
                          bool Inline) {
  std::shared_ptr<Stream> S = Streams.find(Handle);
  if (!S)
    return noStream();
  Streams.submit(*S, std::move(Work), Inline);
  return Error::success();
}

static constexpr std::chrono::microseconds HoldStep(20);

Error CpuDevice::hold(StreamHandle Handle, uint32_t *Word, uint32_t Value) {
  return onStream(
      Handle,
      [=] {
        // Not by atomic waiting, whose table of waiters this library and the
        // program need not share.
        const std::atomic_ref<uint32_t> Shared(*Word);
        while (int32_t(Shared.load(std::memory_order_acquire) - Value) < 0)
          std::this_thread::sleep_for(HoldStep);
      },
      /*Inline=*/false);
}

Expected<StreamHandle> CpuDevice::createStreamWith(bool NonBlocking,
                                                   int Priority) {
  return static_cast<StreamHandle>(Streams.create(NonBlocking, Priority).get());
}

Error CpuDevice::destroyStream(StreamHandle Handle) {
  if (reinterpret_cast<uintptr_t>(Handle) <= 2 || !Streams.destroy(Handle))
    return noStream();
  return Error::success();
}

bool CpuDevice::isStream(StreamHandle Handle) const {
  return Streams.find(Handle) != nullptr;
}

bool CpuDevice::isNonBlocking(StreamHandle Handle) const {
  std::shared_ptr<Stream> S = Streams.find(Handle);
  return S && S->NonBlocking;
}

int CpuDevice::priority(StreamHandle Handle) const {
  std::shared_ptr<Stream> S = Streams.find(Handle);
  return S ? S->Priority : 0;
}

Error CpuDevice::enqueue(StreamHandle Handle, std::function<void()> Work) {
  return onStream(Handle, std::move(Work), /*Inline=*/false);
}

Error CpuDevice::synchronizeStream(StreamHandle Handle) {
  std::shared_ptr<Stream> S = Streams.find(Handle);
  if (!S)
    return noStream();
  // Waiting for the legacy stream is waiting for what it would wait for.
  if (reinterpret_cast<uintptr_t>(Handle) <= 1)
    if (Error Failure = onStream(Handle, [] {}, /*Inline=*/true))
      return Failure;
  S->waitFor(S->submitted());
  return faultError();
}

Error CpuDevice::synchronizeDevice() {
  Streams.waitForAll();
  return faultError();
}

Expected<bool> CpuDevice::queryStream(StreamHandle Handle) {
  std::shared_ptr<Stream> S = Streams.find(Handle);
  if (!S)
    return noStream();
  if (Error Failure = faultError())
    return Failure;
  return S->isComplete(S->submitted());
}

// --- Events.

std::shared_ptr<Event> CpuDevice::findEvent(EventHandle Handle) const {
  std::lock_guard Lock(Mutex);
  auto It = Events.find(Handle);
  return It == Events.end() ? nullptr : It->second;
}

static Error noEvent() { return fail(ErrorCode::Usage, "not an event"); }

static std::shared_ptr<Mark> markOf(Event &E) {
  std::lock_guard Lock(E.Mutex);
  return E.Last;
}

static std::shared_ptr<Mark> newMark(Event &E) {
  auto M = std::make_shared<Mark>();
  std::lock_guard Lock(E.Mutex);
  E.Last = M;
  return M;
}

Expected<EventHandle> CpuDevice::createEvent(bool Timing) {
  auto E = std::make_shared<Event>();
  E->Timing = Timing;
  std::lock_guard Lock(Mutex);
  Events[E.get()] = E;
  return static_cast<EventHandle>(E.get());
}

Error CpuDevice::destroyEvent(EventHandle Handle) {
  std::lock_guard Lock(Mutex);
  return Events.erase(Handle) ? Error::success() : noEvent();
}

bool CpuDevice::isEvent(EventHandle Handle) const {
  return findEvent(Handle) != nullptr;
}

bool CpuDevice::isRecorded(EventHandle Handle) const {
  std::shared_ptr<Event> E = findEvent(Handle);
  return E && markOf(*E);
}

Error CpuDevice::record(EventHandle Handle, StreamHandle Stream) {
  std::shared_ptr<Event> E = findEvent(Handle);
  if (!E)
    return noEvent();
  if (!Streams.find(Stream))
    return noStream();
  return onStream(Stream, [M = newMark(*E)] { M->set(); }, /*Inline=*/true);
}

Error CpuDevice::recordLegacy(EventHandle Handle) {
  std::shared_ptr<Event> E = findEvent(Handle);
  if (!E)
    return noEvent();
  Streams.afterAll([M = newMark(*E)] { M->set(); });
  return Error::success();
}

Error CpuDevice::wait(StreamHandle Stream, EventHandle Handle) {
  std::shared_ptr<Event> E = findEvent(Handle);
  if (!E)
    return noEvent();
  std::shared_ptr<Mark> M = markOf(*E);
  if (!M || M->isSet())
    return Streams.find(Stream) ? Error::success() : noStream();
  return onStream(Stream, [M] { M->wait(); }, /*Inline=*/false);
}

Expected<bool> CpuDevice::query(EventHandle Handle) {
  std::shared_ptr<Event> E = findEvent(Handle);
  if (!E)
    return noEvent();
  std::shared_ptr<Mark> M = markOf(*E);
  if (M && !M->isSet())
    return false;
  if (Error Failure = faultError())
    return Failure;
  return true;
}

Error CpuDevice::synchronizeEvent(EventHandle Handle) {
  std::shared_ptr<Event> E = findEvent(Handle);
  if (!E)
    return noEvent();
  if (std::shared_ptr<Mark> M = markOf(*E))
    M->wait();
  return faultError();
}

Expected<double> CpuDevice::elapsedMs(EventHandle Begin, EventHandle End) {
  std::shared_ptr<Event> First = findEvent(Begin), Second = findEvent(End);
  if (!First || !Second)
    return noEvent();
  std::shared_ptr<Mark> From = markOf(*First), To = markOf(*Second);
  if (!From || !To || !First->Timing || !Second->Timing)
    return fail(ErrorCode::Usage, "the events were not recorded with timing");
  if (!From->isSet() || !To->isSet())
    return fail(ErrorCode::Timeout, "the events have not completed");
  return std::chrono::duration<double, std::milli>(To->when() - From->when())
      .count();
}

// --- Units.

void CpuDevice::addUnit(const CpuUnit &Unit) {
  {
    std::lock_guard Lock(Mutex);
    Sticky = true; // a program, with CUDA's rules
  }
  Units.add(Unit);
}

void CpuDevice::removeUnit(const void *Id) {
  // A program that ends, or closes a library, while a kernel runs: waiting
  // for it could be for ever.
  Units.remove(Id, /*Keep=*/!Streams.isIdle());
  std::lock_guard Lock(Mutex);
  if (Units.empty())
    Sticky = false;
}

} // namespace r3::cpu

extern "C" {

r3::Device *__r3_cpu_device() { return &r3::cpu::Engine::get(); }

void __r3_cpu_add_unit(const r3::CpuUnit *Unit) {
  r3::cpu::Engine::get().addUnit(*Unit);
}

void __r3_cpu_remove_unit(const void *Id) {
  r3::cpu::Engine::get().removeUnit(Id);
}
}
