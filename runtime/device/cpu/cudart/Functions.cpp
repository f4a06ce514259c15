// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What programs ask about kernels and set for them, and occupancy: the limits
// of a GPU of capability 9.0, whose code they are.
#include "runtime/device/cpu/cudart/Functions.h"

#include <algorithm>

namespace r3::cudart {

static constexpr uint32_t SharedPerMultiprocessor = 228 * 1024;
static constexpr uint32_t ReservedShared = 1024; // of each block
static constexpr uint32_t BlocksPerMultiprocessor = 32;

void sayUnsupported(const cpu::Kernel &Kernel, const Error &Why) {
  sayOnce("kernel " + Kernel.name() +
          " cannot run on the CPU device: " + Why.message());
}

cudaError_t findKernel(const void *Function, cpu::Kernel *&Into) {
  Expected<cpu::Kernel *> Found = engine().kernelOf(Function);
  if (!Found) {
    sayOnce("CPU device: " + Found.error().message());
    return cudaErrorNoKernelImageForDevice;
  }
  Into = *Found;
  return Into ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

FunctionState functionState(const void *Function) {
  std::lock_guard Lock(State::get().Mutex);
  auto Found = State::get().Functions.find(Function);
  return Found == State::get().Functions.end() ? FunctionState()
                                               : Found->second;
}

/// What is known of a kernel; compiles it where it is not yet compiled.
static cudaError_t describe(const void *Function, KernelInfo &Into) {
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Function, Kernel))
    return Code;
  Expected<KernelInfo> Info = engine().info(Kernel);
  if (!Info) {
    sayUnsupported(*Kernel, Info.error());
    return codeOf(Info.error(), cudaErrorNoKernelImageForDevice);
  }
  Into = *Info;
  return cudaSuccess;
}

//===-- Attributes --------------------------------------------------------===//

cudaError_t servedFuncGetAttributes(cudaFuncAttributes *Into,
                                    const void *Function) {
  if (!Into)
    return cudaErrorInvalidValue;
  KernelInfo Info;
  if (cudaError_t Code = describe(Function, Info))
    return Code;
  FunctionState Set = functionState(Function);
  *Into = cudaFuncAttributes{};
  Into->sharedSizeBytes = Info.StaticShared;
  Into->localSizeBytes = Info.LocalBytes;
  Into->maxThreadsPerBlock =
      int(std::min(Info.MaxThreads, cpu::MaxThreadsPerBlock));
  Into->numRegs = int(Info.Registers);
  Into->ptxVersion = 90;
  Into->binaryVersion = 90;
  uint32_t Default = cpu::DefaultSharedBytes -
                     std::min(Info.StaticShared, cpu::DefaultSharedBytes);
  Into->maxDynamicSharedSizeBytes =
      int(Set.MaxDynamicShared ? Set.MaxDynamicShared : Default);
  Into->preferredShmemCarveout = int(Set.Carveout);
  return cudaSuccess;
}

static cudaError_t setShared(const void *Function, int Value) {
  KernelInfo Info;
  if (cudaError_t Code = describe(Function, Info))
    return Code;
  if (Value < 0 || uint32_t(Value) > Info.MaxDynamicShared)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Functions[Function].MaxDynamicShared = uint32_t(Value);
  return cudaSuccess;
}

static cudaError_t setCarveout(const void *Function, int Value) {
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Function, Kernel))
    return Code;
  if (Value < -1 || Value > 100)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Functions[Function].Carveout = uint32_t(Value);
  return cudaSuccess;
}

cudaError_t servedFuncSetAttribute(const void *Function,
                                   cudaFuncAttribute Attribute, int Value) {
  switch (Attribute) {
  case cudaFuncAttributeMaxDynamicSharedMemorySize:
    return setShared(Function, Value);
  case cudaFuncAttributePreferredSharedMemoryCarveout:
    return setCarveout(Function, Value);
  case cudaFuncAttributeClusterDimMustBeSet:
  case cudaFuncAttributeRequiredClusterWidth:
  case cudaFuncAttributeRequiredClusterHeight:
  case cudaFuncAttributeRequiredClusterDepth:
  case cudaFuncAttributeNonPortableClusterSizeAllowed:
  case cudaFuncAttributeClusterSchedulingPolicyPreference:
    sayOnce("thread block clusters are not served by the CPU device");
    return cudaErrorNotSupported;
  default:
    return cudaErrorInvalidValue;
  }
}

cudaError_t servedFuncSetCacheConfig(const void *Function,
                                     cudaFuncCache Config) {
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Function, Kernel))
    return Code;
  if (Config < cudaFuncCachePreferNone || Config > cudaFuncCachePreferEqual)
    return cudaErrorInvalidValue;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Functions[Function].CacheConfig = uint8_t(Config);
  return cudaSuccess;
}

cudaError_t servedFuncSetSharedMemConfig(const void *Function,
                                         cudaSharedMemConfig Config) {
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Function, Kernel))
    return Code;
  // No device of capability 5.0 or more has banks to choose from.
  return Config < cudaSharedMemBankSizeDefault ||
                 Config > cudaSharedMemBankSizeEightByte
             ? cudaErrorInvalidValue
             : cudaSuccess;
}

cudaError_t servedFuncGetName(const char **Into, const void *Function) {
  if (!Into)
    return cudaErrorInvalidValue;
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Function, Kernel))
    return Code;
  *Into = Kernel->name().c_str();
  return cudaSuccess;
}

/// A cudaFunction_t of the CPU device is the stub, as everywhere here.
cudaError_t servedGetFuncBySymbol(cudaFunction_t *Into, const void *Symbol) {
  if (!Into)
    return cudaErrorInvalidValue;
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(Symbol, Kernel))
    return Code;
  *Into = static_cast<cudaFunction_t>(const_cast<void *>(Symbol));
  return cudaSuccess;
}

//===-- Occupancy ---------------------------------------------------------===//

static uint32_t blocksPerMultiprocessor(const KernelInfo &Info,
                                        uint32_t Threads, size_t Dynamic) {
  if (!Threads || Threads > std::min(Info.MaxThreads, cpu::MaxThreadsPerBlock))
    return 0;
  uint32_t Warps = (Threads + cpu::WarpSize - 1) / cpu::WarpSize;
  uint64_t ByThreads =
      cpu::MaxThreadsPerMultiprocessor / (Warps * cpu::WarpSize);
  if (Dynamic > cpu::MaxSharedBytes ||
      Info.StaticShared + Dynamic > cpu::MaxSharedBytes)
    return 0;
  uint64_t ByShared =
      SharedPerMultiprocessor / (Info.StaticShared + Dynamic + ReservedShared);
  return uint32_t(
      std::min({ByThreads, ByShared, uint64_t(BlocksPerMultiprocessor)}));
}

cudaError_t servedOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *Blocks, const void *Function, int Threads, size_t Dynamic,
    unsigned Flags) {
  if (!Blocks || Threads <= 0 ||
      (Flags & ~unsigned(cudaOccupancyDisableCachingOverride)))
    return cudaErrorInvalidValue;
  KernelInfo Info;
  if (cudaError_t Code = describe(Function, Info))
    return Code;
  *Blocks = int(blocksPerMultiprocessor(Info, uint32_t(Threads), Dynamic));
  return cudaSuccess;
}

cudaError_t servedOccupancyMaxActiveBlocksPerMultiprocessor(
    int *Blocks, const void *Function, int Threads, size_t Dynamic) {
  return servedOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      Blocks, Function, Threads, Dynamic, cudaOccupancyDefault);
}

cudaError_t servedOccupancyAvailableDynamicSMemPerBlock(size_t *Size,
                                                        const void *Function,
                                                        int Blocks,
                                                        int Threads) {
  if (!Size || Blocks <= 0 || Threads <= 0)
    return cudaErrorInvalidValue;
  KernelInfo Info;
  if (cudaError_t Code = describe(Function, Info))
    return Code;
  if (blocksPerMultiprocessor(Info, uint32_t(Threads), 0) < uint32_t(Blocks))
    return cudaErrorInvalidValue;
  uint64_t Share = SharedPerMultiprocessor / uint32_t(Blocks);
  uint64_t Taken = uint64_t(Info.StaticShared) + ReservedShared;
  *Size = std::min<uint64_t>(Share - std::min(Share, Taken),
                             cpu::MaxSharedBytes - Info.StaticShared);
  return cudaSuccess;
}

} // namespace r3::cudart
