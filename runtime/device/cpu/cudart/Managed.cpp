// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Advice and prefetches for managed memory. Nothing moves, since host and
// device share their memory; what was said is kept and can be asked for.
#include "runtime/device/cpu/cudart/Served.h"

#include <cstring>

namespace r3::cudart {

/// Beginning of the managed allocation that contains the range.
static std::optional<Address> managedBlock(const void *Where, size_t Size) {
  std::optional<cpu::MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (!Block || Block->Use != cpu::MemoryUse::Program ||
      Block->Tag != TagManaged || !isKnown(Where, Size))
    return std::nullopt;
  return Block->Begin;
}

static bool isLocation(const cudaMemLocation &Location) {
  switch (Location.type) {
  case cudaMemLocationTypeDevice:
    return Location.id == 0;
  case cudaMemLocationTypeHost:
    return true;
  case cudaMemLocationTypeHostNuma:
  case cudaMemLocationTypeHostNumaCurrent:
    return true;
  default:
    return false;
  }
}

static cudaError_t advise(const void *Where, size_t Size, cudaMemoryAdvise What,
                          cudaMemLocation Location) {
  std::optional<Address> Block = managedBlock(Where, Size);
  if (!Block || !Size)
    return cudaErrorInvalidValue;
  bool NeedsLocation = What == cudaMemAdviseSetPreferredLocation ||
                       What == cudaMemAdviseSetAccessedBy ||
                       What == cudaMemAdviseUnsetAccessedBy;
  if (NeedsLocation && !isLocation(Location))
    return cudaErrorInvalidDevice;
  std::lock_guard Lock(State::get().Mutex);
  Advice &A = State::get().Advised[*Block];
  bool OfDevice = Location.type == cudaMemLocationTypeDevice;
  switch (What) {
  case cudaMemAdviseSetReadMostly:
  case cudaMemAdviseUnsetReadMostly:
    A.ReadMostly = What == cudaMemAdviseSetReadMostly;
    return cudaSuccess;
  case cudaMemAdviseSetPreferredLocation:
    A.Preferred = Location;
    return cudaSuccess;
  case cudaMemAdviseUnsetPreferredLocation:
    A.Preferred = {};
    return cudaSuccess;
  case cudaMemAdviseSetAccessedBy:
  case cudaMemAdviseUnsetAccessedBy:
    if (OfDevice)
      A.AccessedByDevice = What == cudaMemAdviseSetAccessedBy;
    return cudaSuccess;
  }
  return cudaErrorInvalidValue;
}

static cudaError_t prefetch(const void *Where, size_t Size,
                            cudaMemLocation Location, cudaStream_t Stream) {
  std::optional<Address> Block = managedBlock(Where, Size);
  if (!Block || !Size)
    return cudaErrorInvalidValue;
  if (!isLocation(Location))
    return cudaErrorInvalidDevice;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Advised[*Block].Prefetched = Location;
  return cudaSuccess;
}

// CUDA 13 gave the plain names the types that CUDA 12 has under _v2.
#if CUDART_VERSION >= 13000
#define R3_BY_LOCATION(Name) served##Name
#else
#define R3_BY_LOCATION(Name) served##Name##_v2
#endif

cudaError_t R3_BY_LOCATION(MemAdvise)(const void *Where, size_t Size,
                                      cudaMemoryAdvise What,
                                      cudaMemLocation Location) {
  return advise(Where, Size, What, Location);
}

cudaError_t R3_BY_LOCATION(MemPrefetchAsync)(const void *Where, size_t Size,
                                             cudaMemLocation Location,
                                             unsigned Flags,
                                             cudaStream_t Stream) {
  return Flags ? cudaErrorInvalidValue
               : prefetch(Where, Size, Location, Stream);
}

#if CUDART_VERSION < 13000

static cudaMemLocation locationOf(int Device) {
  cudaMemLocation Location{};
  Location.type = Device == cudaCpuDeviceId ? cudaMemLocationTypeHost
                                            : cudaMemLocationTypeDevice;
  Location.id = Device == cudaCpuDeviceId ? 0 : Device;
  return Location;
}

cudaError_t servedMemAdvise(const void *Where, size_t Size,
                            cudaMemoryAdvise What, int Device) {
  return advise(Where, Size, What, locationOf(Device));
}

cudaError_t servedMemPrefetchAsync(const void *Where, size_t Size, int Device,
                                   cudaStream_t Stream) {
  return prefetch(Where, Size, locationOf(Device), Stream);
}

#endif

static int deviceOf(const cudaMemLocation &Location) {
  switch (Location.type) {
  case cudaMemLocationTypeInvalid:
    return cudaInvalidDeviceId;
  case cudaMemLocationTypeDevice:
    return Location.id;
  default:
    return cudaCpuDeviceId;
  }
}

static cudaError_t answer(void *Data, size_t Size, int Value) {
  if (Size != sizeof(int))
    return cudaErrorInvalidValue;
  std::memcpy(Data, &Value, sizeof(Value));
  return cudaSuccess;
}

cudaError_t servedMemRangeGetAttribute(void *Data, size_t DataSize,
                                       cudaMemRangeAttribute Attribute,
                                       const void *Where, size_t Size) {
  std::optional<Address> Block = managedBlock(Where, Size);
  if (!Data || !Block || !Size)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  const Advice &A = State::get().Advised[*Block];
  switch (Attribute) {
  case cudaMemRangeAttributeReadMostly:
    return answer(Data, DataSize, A.ReadMostly);
  case cudaMemRangeAttributePreferredLocation:
    return answer(Data, DataSize, deviceOf(A.Preferred));
  case cudaMemRangeAttributeLastPrefetchLocation:
    return answer(Data, DataSize, deviceOf(A.Prefetched));
  case cudaMemRangeAttributeAccessedBy: {
    if (!DataSize || DataSize % sizeof(int))
      return cudaErrorInvalidValue;
    // A list of devices, filled up with the invalid one.
    auto *Devices = static_cast<int *>(Data);
    for (size_t I = 0; I != DataSize / sizeof(int); ++I)
      Devices[I] = !I && A.AccessedByDevice ? 0 : cudaInvalidDeviceId;
    return cudaSuccess;
  }
  case cudaMemRangeAttributePreferredLocationType:
    return answer(Data, DataSize, A.Preferred.type);
  case cudaMemRangeAttributePreferredLocationId:
    return answer(Data, DataSize, A.Preferred.id);
  case cudaMemRangeAttributeLastPrefetchLocationType:
    return answer(Data, DataSize, A.Prefetched.type);
  case cudaMemRangeAttributeLastPrefetchLocationId:
    return answer(Data, DataSize, A.Prefetched.id);
  }
  return cudaErrorInvalidValue;
}

} // namespace r3::cudart
