// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: arguments are gathered by the layout of the kernel's parameters,
// and what the engine refuses gets CUDA's code.
#include "runtime/device/cpu/cudart/Functions.h"

#include <cstring>

namespace r3::cudart {

namespace {

struct Request {
  const void *Function = nullptr;
  dim3 Grid, Block;
  void **Arguments = nullptr;
  size_t DynamicShared = 0;
  cudaStream_t Stream = nullptr;
  bool Cooperative = false;
  std::optional<uint32_t> Carveout;
  std::vector<cudaEvent_t> Events; // recorded behind the kernel
};

} // namespace

/// The raw argument bytes; false where the program gave none.
static bool gather(const cpu::Kernel &Kernel, void **Arguments,
                   std::vector<uint8_t> &Bytes) {
  Bytes.resize(Kernel.argumentBytes());
  const std::vector<cpu::Parameter> &Parameters = Kernel.parameters();
  for (size_t I = 0; I != Parameters.size(); ++I) {
    if (!Arguments || !Arguments[I])
      return false;
    std::memcpy(Bytes.data() + Parameters[I].Offset, Arguments[I],
                Parameters[I].Size);
  }
  return true;
}

static cudaError_t codeOfProblem(cpu::LaunchProblem Problem, const Request &R,
                                 const cpu::Kernel &Kernel,
                                 const Error &Failure) {
  switch (Problem) {
  case cpu::LaunchProblem::None:
    return cudaSuccess;
  case cpu::LaunchProblem::Configuration: {
    uint64_t Blocks = uint64_t(R.Grid.x) * R.Grid.y * R.Grid.z;
    uint64_t Threads = uint64_t(R.Block.x) * R.Block.y * R.Block.z;
    if (R.Cooperative && Threads && Threads <= cpu::MaxThreadsPerBlock &&
        Blocks > engine().maxCooperativeBlocks(uint32_t(Threads)))
      return cudaErrorCooperativeLaunchTooLarge;
    return cudaErrorInvalidConfiguration;
  }
  case cpu::LaunchProblem::Shared:
    return cudaErrorInvalidValue;
  case cpu::LaunchProblem::Resources:
    return cudaErrorLaunchOutOfResources;
  case cpu::LaunchProblem::Unsupported:
    sayUnsupported(Kernel, Failure);
    return cudaErrorNotSupported;
  case cpu::LaunchProblem::Fault:
    return codeOf(Failure, cudaErrorLaunchFailure);
  }
  return cudaErrorUnknown;
}

static LaunchConfig configOf(const Request &R) {
  FunctionState Set = functionState(R.Function);
  LaunchConfig Config;
  Config.Grid = {R.Grid.x, R.Grid.y, R.Grid.z};
  Config.Block = {R.Block.x, R.Block.y, R.Block.z};
  Config.DynamicShared = uint32_t(R.DynamicShared);
  Config.Cooperative = R.Cooperative;
  Config.CacheConfig = Set.CacheConfig;
  Config.MaxDynamicShared = Set.MaxDynamicShared;
  Config.Carveout = R.Carveout.value_or(Set.Carveout);
  return Config;
}

static cudaError_t launch(const Request &R) {
  cpu::Kernel *Kernel = nullptr;
  if (cudaError_t Code = findKernel(R.Function, Kernel))
    return Code;
  if (cudaError_t Code = checkStream(R.Stream))
    return Code;
  if (R.DynamicShared > cpu::MaxSharedBytes)
    return cudaErrorInvalidValue;
  std::vector<uint8_t> Bytes;
  if (!gather(*Kernel, R.Arguments, Bytes))
    return cudaErrorInvalidValue;
  cpu::LaunchProblem Problem = cpu::LaunchProblem::None;
  if (Error Failure =
          engine().launchKernel(*Kernel, configOf(R), Bytes, R.Stream, Problem))
    return codeOfProblem(Problem, R, *Kernel, Failure);
  for (cudaEvent_t Event : R.Events)
    if (engine().record(Event, R.Stream))
      return cudaErrorInvalidResourceHandle;
  return cudaSuccess;
}

cudaError_t servedLaunchKernel(const void *Function, dim3 Grid, dim3 Block,
                               void **Arguments, size_t Shared,
                               cudaStream_t Stream) {
  return launch({Function, Grid, Block, Arguments, Shared, Stream});
}

cudaError_t servedLaunchCooperativeKernel(const void *Function, dim3 Grid,
                                          dim3 Block, void **Arguments,
                                          size_t Shared, cudaStream_t Stream) {
  Request R{Function, Grid, Block, Arguments, Shared, Stream};
  R.Cooperative = true;
  return launch(R);
}

//===-- Attributes of a launch --------------------------------------------===//

static cudaError_t refuse(const char *What) {
  sayOnce(std::string(What) + " are not served by the CPU device");
  return cudaErrorNotSupported;
}

static cudaError_t apply(const cudaLaunchAttribute &Attribute, Request &R) {
  const cudaLaunchAttributeValue &Value = Attribute.val;
  switch (Attribute.id) {
  case cudaLaunchAttributeIgnore:
  // Hints, and freedoms that need not be taken: in-order execution keeps all
  // that they promise.
  case cudaLaunchAttributeAccessPolicyWindow:
  case cudaLaunchAttributeSynchronizationPolicy:
  case cudaLaunchAttributeProgrammaticStreamSerialization:
  case cudaLaunchAttributePriority:
  case cudaLaunchAttributeMemSyncDomainMap:
  case cudaLaunchAttributeMemSyncDomain:
  case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    return cudaSuccess;
  case cudaLaunchAttributeCooperative:
    R.Cooperative = Value.cooperative;
    return cudaSuccess;
  case cudaLaunchAttributeClusterDimension:
    return uint64_t(Value.clusterDim.x) * Value.clusterDim.y *
                       Value.clusterDim.z <=
                   1
               ? cudaSuccess
               : refuse("thread block clusters");
  case cudaLaunchAttributeProgrammaticEvent:
    R.Events.push_back(Value.programmaticEvent.event);
    return cudaSuccess;
  case cudaLaunchAttributeLaunchCompletionEvent:
    R.Events.push_back(Value.launchCompletionEvent.event);
    return cudaSuccess;
  case cudaLaunchAttributePreferredSharedMemoryCarveout:
    R.Carveout = uint32_t(Value.sharedMemCarveout);
    return cudaSuccess;
  default:
    return refuse("some attributes of cudaLaunchKernelExC");
  }
}

static cudaError_t launchWith(const cudaLaunchConfig_t *Config,
                              const void *Function, void **Arguments,
                              cudaStream_t Default) {
  if (!Config || (Config->numAttrs && !Config->attrs))
    return cudaErrorInvalidValue;
  Request R{Function,
            Config->gridDim,
            Config->blockDim,
            Arguments,
            Config->dynamicSmemBytes,
            Config->stream ? Config->stream : Default};
  for (unsigned I = 0; I != Config->numAttrs; ++I)
    if (cudaError_t Code = apply(Config->attrs[I], R))
      return Code;
  return launch(R);
}

cudaError_t servedLaunchKernelExC(const cudaLaunchConfig_t *Config,
                                  const void *Function, void **Arguments) {
  return launchWith(Config, Function, Arguments, nullptr);
}

cudaError_t servedLaunchKernelExC_ptsz(const cudaLaunchConfig_t *Config,
                                       const void *Function, void **Arguments) {
  return launchWith(Config, Function, Arguments, cudaStreamPerThread);
}

} // namespace r3::cudart
