// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the device says about itself. It runs code that was compiled for a GPU
// of capability 9.0, and has its limits; the numbers of processors and the
// sizes of memory and cache are the machine's. What it does not have
// (textures, clusters, peers) is 0.
#include "runtime/device/cpu/cudart/Served.h"

#include "runtime/support/Digest.h"

#include <algorithm>
#include <climits>
#include <cstring>

namespace r3::cudart {

static constexpr int Major = 9, Minor = 0;
static constexpr int Registers = 65536;
static constexpr int BlocksPerMultiprocessor = 32;
static constexpr int SharedPerMultiprocessor = 228 * 1024;
static constexpr int ReservedShared = 1024;

static int saturated(uint64_t Value) {
  return int(std::min<uint64_t>(Value, INT_MAX));
}

/// Attributes that are not 0; those of memory and processors are in valueOf.
struct AttributeRow {
  cudaDeviceAttr Attribute;
  int Value;
};

static constexpr AttributeRow Attributes[] = {
    {cudaDevAttrMaxThreadsPerBlock, cpu::MaxThreadsPerBlock},
    {cudaDevAttrMaxBlockDimX, int(cpu::MaxBlock[0])},
    {cudaDevAttrMaxBlockDimY, int(cpu::MaxBlock[1])},
    {cudaDevAttrMaxBlockDimZ, int(cpu::MaxBlock[2])},
    {cudaDevAttrMaxGridDimX, int(cpu::MaxGrid[0])},
    {cudaDevAttrMaxGridDimY, int(cpu::MaxGrid[1])},
    {cudaDevAttrMaxGridDimZ, int(cpu::MaxGrid[2])},
    {cudaDevAttrMaxSharedMemoryPerBlock, cpu::DefaultSharedBytes},
    {cudaDevAttrTotalConstantMemory, cpu::ConstantBytes},
    {cudaDevAttrWarpSize, cpu::WarpSize},
    {cudaDevAttrMaxPitch, INT_MAX},
    {cudaDevAttrMaxRegistersPerBlock, Registers},
    {cudaDevAttrClockRate, 1000000},
    {cudaDevAttrTextureAlignment, 512},
    {cudaDevAttrGpuOverlap, 1},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrSurfaceAlignment, 512},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrMemoryClockRate, 1000000},
    {cudaDevAttrGlobalMemoryBusWidth, 64},
    {cudaDevAttrMaxThreadsPerMultiProcessor, cpu::MaxThreadsPerMultiprocessor},
    {cudaDevAttrAsyncEngineCount, 1},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrTexturePitchAlignment, 32},
    {cudaDevAttrComputeCapabilityMajor, Major},
    {cudaDevAttrComputeCapabilityMinor, Minor},
    {cudaDevAttrStreamPrioritiesSupported, 1},
    {cudaDevAttrGlobalL1CacheSupported, 1},
    {cudaDevAttrLocalL1CacheSupported, 1},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, SharedPerMultiprocessor},
    {cudaDevAttrMaxRegistersPerMultiprocessor, Registers},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrHostNativeAtomicSupported, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrComputePreemptionSupported, 1},
    {cudaDevAttrCanUseHostPointerForRegisteredMem, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, cpu::MaxSharedBytes},
    {cudaDevAttrHostRegisterSupported, 1},
    {cudaDevAttrDirectManagedMemAccessFromHost, 1},
    {cudaDevAttrMaxBlocksPerMultiprocessor, BlocksPerMultiprocessor},
    {cudaDevAttrReservedSharedMemoryPerBlock, ReservedShared},
    {cudaDevAttrHostRegisterReadOnlySupported, 1},
    {cudaDevAttrMemoryPoolsSupported, 1},
    {cudaDevAttrSingleToDoublePrecisionPerfRatio, 2},
};

static int valueOf(cudaDeviceAttr Attribute) {
  if (Attribute == cudaDevAttrMultiProcessorCount)
    return int(engine().identity().Multiprocessors);
  if (Attribute == cudaDevAttrL2CacheSize)
    return saturated(engine().identity().L2Bytes);
  for (const AttributeRow &Row : Attributes)
    if (Row.Attribute == Attribute)
      return Row.Value;
  return 0;
}

cudaError_t servedDeviceGetAttribute(int *Value, cudaDeviceAttr Attribute,
                                     int Device) {
  if (!Value || Attribute < cudaDevAttrMaxThreadsPerBlock ||
      Attribute >= cudaDevAttrMax)
    return cudaErrorInvalidValue;
  if (Device != 0)
    return cudaErrorInvalidDevice;
  *Value = valueOf(Attribute);
  return cudaSuccess;
}

static void fillLimits(cudaDeviceProp &P) {
  P.regsPerBlock = Registers;
  P.warpSize = cpu::WarpSize;
  P.memPitch = INT_MAX;
  P.maxThreadsPerBlock = cpu::MaxThreadsPerBlock;
  for (int I = 0; I != 3; ++I) {
    P.maxThreadsDim[I] = int(cpu::MaxBlock[size_t(I)]);
    P.maxGridSize[I] = int(cpu::MaxGrid[size_t(I)]);
  }
  P.totalConstMem = cpu::ConstantBytes;
  P.major = Major;
  P.minor = Minor;
  P.textureAlignment = 512;
  P.texturePitchAlignment = 32;
  P.surfaceAlignment = 512;
  P.maxThreadsPerMultiProcessor = cpu::MaxThreadsPerMultiprocessor;
  P.maxBlocksPerMultiProcessor = BlocksPerMultiprocessor;
  P.regsPerMultiprocessor = Registers;
  P.sharedMemPerBlock = cpu::DefaultSharedBytes;
  P.sharedMemPerBlockOptin = cpu::MaxSharedBytes;
  P.sharedMemPerMultiprocessor = SharedPerMultiprocessor;
  P.reservedSharedMemPerBlock = ReservedShared;
}

static void fillAbilities(cudaDeviceProp &P) {
  P.canMapHostMemory = 1;
  P.concurrentKernels = 1;
  P.asyncEngineCount = 1;
  P.unifiedAddressing = 1;
  P.memoryBusWidth = 64;
  P.streamPrioritiesSupported = 1;
  P.globalL1CacheSupported = 1;
  P.localL1CacheSupported = 1;
  P.managedMemory = 1;
  P.hostNativeAtomicSupported = 1;
  P.concurrentManagedAccess = 1;
  P.computePreemptionSupported = 1;
  P.canUseHostPointerForRegisteredMem = 1;
  P.cooperativeLaunch = 1;
  P.directManagedMemAccessFromHost = 1;
  P.hostRegisterSupported = 1;
  P.hostRegisterReadOnlySupported = 1;
  P.memoryPoolsSupported = 1;
#if CUDART_VERSION < 13000
  P.clockRate = 1000000;
  P.memoryClockRate = 1000000;
  P.deviceOverlap = 1;
  P.singleToDoublePrecisionPerfRatio = 2;
#endif
}

cudaError_t servedGetDeviceProperties(cudaDeviceProp *Into, int Device) {
  if (!Into)
    return cudaErrorInvalidValue;
  if (Device != 0)
    return cudaErrorInvalidDevice;
  DeviceIdentity Identity = engine().identity();
  cudaDeviceProp P;
  std::memset(&P, 0, sizeof(P));
  std::string Name = "R3 CPU device: " + Identity.Name;
  std::strncpy(P.name, Name.c_str(), sizeof(P.name) - 1);
  Digest Unique = contentDigest(Identity.Key);
  static_assert(sizeof(Unique) == sizeof(P.uuid));
  std::memcpy(&P.uuid, &Unique, sizeof(P.uuid));
  P.totalGlobalMem = Identity.MemoryBytes;
  P.multiProcessorCount = int(Identity.Multiprocessors);
  P.l2CacheSize = saturated(Identity.L2Bytes);
  fillLimits(P);
  fillAbilities(P);
  *Into = P;
  return cudaSuccess;
}

#if CUDART_VERSION < 13000
cudaError_t servedGetDeviceProperties_v2(cudaDeviceProp *Into, int Device) {
  return servedGetDeviceProperties(Into, Device);
}
#endif

} // namespace r3::cudart
