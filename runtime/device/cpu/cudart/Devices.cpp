// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one device, as far as programs ask about it. Its properties are in
// Properties.cpp.
#include "runtime/device/cpu/cudart/Served.h"

#include <cstdio>
#include <cstring>

namespace r3::cudart {

static constexpr char BusId[] = "0000:00:00.0";

static cudaError_t checkDevice(int Device) {
  return Device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t servedGetDeviceCount(int *Count) {
  if (!Count)
    return cudaErrorInvalidValue;
  *Count = 1;
  return cudaSuccess;
}

cudaError_t servedGetDevice(int *Device) {
  if (!Device)
    return cudaErrorInvalidValue;
  *Device = 0;
  return cudaSuccess;
}

cudaError_t servedSetDevice(int Device) { return checkDevice(Device); }

cudaError_t servedInitDevice(int Device, unsigned, unsigned Flags) {
  return Flags ? cudaErrorInvalidValue : checkDevice(Device);
}

cudaError_t servedChooseDevice(int *Device, const cudaDeviceProp *Wanted) {
  if (!Device || !Wanted)
    return cudaErrorInvalidValue;
  *Device = 0;
  return cudaSuccess;
}

cudaError_t servedSetValidDevices(int *Devices, int Count) {
  if (Count < 0 || (Count && !Devices))
    return cudaErrorInvalidValue;
  for (int I = 0; I != Count; ++I)
    if (cudaError_t Code = checkDevice(Devices[I]))
      return Code;
  return cudaSuccess;
}

cudaError_t servedDeviceSynchronize() {
  Error Failure = engine().synchronizeDevice();
  return Failure ? codeOf(Failure, cudaErrorUnknown) : cudaSuccess;
}

/// Gives back what the program has. Its kernels and device variables stay as
/// they are (docs/LIMITATIONS.md).
cudaError_t servedDeviceReset() {
  (void)engine().synchronizeDevice();
  engine().clearFault();
  State &S = State::get();
  std::lock_guard Lock(S.Mutex);
  for (Address Where : S.Allocations)
    (void)engine().freeBlock(Where);
  for (cudaStream_t Stream : S.Streams)
    (void)engine().destroyStream(Stream);
  for (const auto &[Event, Flags] : S.Events)
    (void)engine().destroyEvent(Event);
  for (MemoryPool *Pool : S.Pools)
    delete Pool;
  S.Allocations.clear();
  S.Streams.clear();
  S.StreamAttributes.clear();
  S.Events.clear();
  S.Pools.clear();
  S.PoolAllocations.clear();
  S.Advised.clear();
  S.Functions.clear();
  S.Limits.clear();
  S.DefaultPool = MemoryPool();
  S.CurrentPool = &S.DefaultPool;
  S.DeviceFlags = 0;
  S.CacheConfig = cudaFuncCachePreferNone;
  S.SharedConfig = cudaSharedMemBankSizeDefault;
  return cudaSuccess;
}

cudaError_t servedSetDeviceFlags(unsigned Flags) {
  if (Flags & ~unsigned(cudaDeviceMask))
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().DeviceFlags = Flags;
  return cudaSuccess;
}

cudaError_t servedGetDeviceFlags(unsigned *Flags) {
  if (!Flags)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  // Mapping host memory is always possible, and CUDA says so.
  *Flags = State::get().DeviceFlags | cudaDeviceMapHost;
  return cudaSuccess;
}

//===-- Limits and configurations -----------------------------------------===//

static std::optional<size_t> defaultLimit(cudaLimit Limit) {
  switch (Limit) {
  case cudaLimitStackSize:
    return 1024;
  case cudaLimitPrintfFifoSize:
    return size_t(1) << 20;
  case cudaLimitMallocHeapSize:
    return size_t(8) << 20;
  case cudaLimitMaxL2FetchGranularity:
    return 128;
  case cudaLimitPersistingL2CacheSize:
    return 0;
  default:
    return std::nullopt; // of device-side launches, which there are none of
  }
}

cudaError_t servedDeviceGetLimit(size_t *Value, cudaLimit Limit) {
  std::optional<size_t> Default = defaultLimit(Limit);
  if (!Value)
    return cudaErrorInvalidValue;
  if (!Default)
    return cudaErrorUnsupportedLimit;
  std::lock_guard Lock(State::get().Mutex);
  auto Set = State::get().Limits.find(Limit);
  *Value = Set == State::get().Limits.end() ? *Default : Set->second;
  return cudaSuccess;
}

cudaError_t servedDeviceSetLimit(cudaLimit Limit, size_t Value) {
  if (!defaultLimit(Limit))
    return cudaErrorUnsupportedLimit;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Limits[Limit] = Value;
  return cudaSuccess;
}

cudaError_t servedDeviceGetCacheConfig(cudaFuncCache *Config) {
  if (!Config)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  *Config = State::get().CacheConfig;
  return cudaSuccess;
}

cudaError_t servedDeviceSetCacheConfig(cudaFuncCache Config) {
  if (Config < cudaFuncCachePreferNone || Config > cudaFuncCachePreferEqual)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().CacheConfig = Config;
  return cudaSuccess;
}

cudaError_t servedDeviceGetSharedMemConfig(cudaSharedMemConfig *Config) {
  if (!Config)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  *Config = State::get().SharedConfig;
  return cudaSuccess;
}

cudaError_t servedDeviceSetSharedMemConfig(cudaSharedMemConfig Config) {
  if (Config < cudaSharedMemBankSizeDefault ||
      Config > cudaSharedMemBankSizeEightByte)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().SharedConfig = Config;
  return cudaSuccess;
}

cudaError_t servedCtxResetPersistingL2Cache() { return cudaSuccess; }

//===-- Names and versions ------------------------------------------------===//

cudaError_t servedDeviceGetPCIBusId(char *Text, int Length, int Device) {
  if (!Text || Length < int(sizeof(BusId)))
    return cudaErrorInvalidValue;
  if (cudaError_t Code = checkDevice(Device))
    return Code;
  std::memcpy(Text, BusId, sizeof(BusId));
  return cudaSuccess;
}

cudaError_t servedDeviceGetByPCIBusId(int *Device, const char *Text) {
  if (!Device || !Text)
    return cudaErrorInvalidValue;
  unsigned Domain = 1, Bus = 1, Slot = 1, Function = 0;
  if (std::sscanf(Text, "%x:%x:%x.%x", &Domain, &Bus, &Slot, &Function) < 3 ||
      Domain || Bus || Slot || Function)
    return cudaErrorInvalidDevice;
  *Device = 0;
  return cudaSuccess;
}

cudaError_t servedDeviceCanAccessPeer(int *Can, int Device, int Peer) {
  if (!Can)
    return cudaErrorInvalidValue;
  if (checkDevice(Device) || checkDevice(Peer))
    return cudaErrorInvalidDevice;
  *Can = 0; // not even itself, as in CUDA
  return cudaSuccess;
}

cudaError_t servedDriverGetVersion(int *Version) {
  if (!Version)
    return cudaErrorInvalidValue;
  *Version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t servedRuntimeGetVersion(int *Version) {
  return servedDriverGetVersion(Version);
}

} // namespace r3::cudart
