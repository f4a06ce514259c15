// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules, kernel information, launches.
#include "runtime/device/cuda/CudaModule.h"
#include "runtime/device/cuda/Image.h"

#include <algorithm>

using namespace r3;

namespace {

constexpr size_t LogBytes = 16 * 1024;
/// Dynamic shared memory that needs no function attribute.
constexpr uint32_t OrdinaryShared = 48 * 1024;
constexpr uint32_t PortableCluster = 8; // blocks

void *asOption(size_t Value) { return reinterpret_cast<void *>(Value); }

} // namespace

Expected<std::unique_ptr<DeviceModule>>
CudaDevice::load(std::span<const uint8_t> Image) {
  Expected<std::vector<uint8_t>> Prepared = prepareImage(Image);
  if (!Prepared)
    return Prepared.error();
  Scope Enter(*this);
  std::vector<char> Log(LogBytes, 0);
  CUjit_option Options[] = {CU_JIT_ERROR_LOG_BUFFER,
                            CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *Values[] = {Log.data(), asOption(Log.size() - 1)};
  CUmodule Module = nullptr;
  Error Failure = R3_CUDA_CALL(ModuleLoadDataEx(
      &Module, Prepared->data(), std::size(Options), Options, Values));
  if (Failure && Log[0])
    return Error(Failure.code(), Failure.message() + "\n" + Log.data());
  if (Failure)
    return Failure;
  return std::unique_ptr<DeviceModule>(
      std::make_unique<CudaModule>(*this, Module));
}

CudaModule::~CudaModule() {
  CudaDevice::Scope Enter(Owner);
  Owner.Api.ModuleUnload(Module);
}

namespace {

/// Offsets and sizes of all parameters, as far as the driver tells.
std::optional<uint64_t> parameterBytes(const Driver &Api, CUfunction Function) {
  if (!Api.FuncGetParamInfo)
    return std::nullopt;
  uint64_t Bytes = 0;
  for (size_t Index = 0;; ++Index) {
    size_t Offset = 0, Size = 0;
    // Fails behind the last parameter.
    if (Api.FuncGetParamInfo(Function, Index, &Offset, &Size) != CUDA_SUCCESS)
      return Bytes;
    Bytes = std::max<uint64_t>(Bytes, Offset + Size);
  }
}

} // namespace

Expected<KernelHandle> CudaModule::kernel(const std::string &Name) {
  auto Known = Kernels.find(Name);
  if (Known != Kernels.end())
    return KernelHandle(&Known->second);
  CudaDevice::Scope Enter(Owner);
  CudaKernel Kernel;
  CUresult Result =
      Owner.Api.ModuleGetFunction(&Kernel.Function, Module, Name.c_str());
  if (Result == CUDA_ERROR_NOT_FOUND)
    return fail(ErrorCode::NotFound, "the module has no kernel %s",
                Name.c_str());
  if (Error E = Owner.check(
          Result, "cuModuleGetFunction(&Kernel.Function, Module, Name)"))
    return E;
  // Code is loaded now, not within the first launch that is timed.
  if (Owner.Api.FuncLoad)
    if (Error E = Owner.check(Owner.Api.FuncLoad(Kernel.Function),
                              "cuFuncLoad(Kernel.Function)"))
      return E.in(Name);
  Kernel.ParameterBytes = parameterBytes(Owner.Api, Kernel.Function);
  return KernelHandle(&Kernels.emplace(Name, Kernel).first->second);
}

Expected<AddressRange> CudaModule::global(const std::string &Name) {
  CudaDevice::Scope Enter(Owner);
  AddressRange Range;
  if (Error E = Owner.globalIn(Module, Name, Range))
    return E;
  return Range;
}

Expected<KernelInfo> CudaDevice::info(KernelHandle Handle) {
  Scope Enter(*this);
  CUfunction Function = static_cast<CudaKernel *>(Handle)->Function;
  KernelInfo Info;
  struct {
    CUfunction_attribute Attribute;
    uint32_t *Value;
  } Wanted[] = {
      {CU_FUNC_ATTRIBUTE_NUM_REGS, &Info.Registers},
      {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &Info.StaticShared},
      {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &Info.LocalBytes},
      {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &Info.MaxThreads},
      {CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, &Info.MaxDynamicShared},
  };
  for (auto &Row : Wanted) {
    int Value = 0;
    if (Error E =
            R3_CUDA_CALL(FuncGetAttribute(&Value, Row.Attribute, Function)))
      return E;
    *Row.Value = uint32_t(Value);
  }
  return Info;
}

namespace {

/// Sets the function attributes that a launch wants and that are not set.
class Attributes {
public:
  Attributes(const Driver &Api, CudaKernel &Kernel)
      : Api(Api), Kernel(Kernel) {}

  /// The first failure of what apply() had to set.
  CUresult apply(const LaunchConfig &Config) {
    setDynamicLimit(Config);
    if (Config.Carveout != Kernel.Carveout &&
        set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
            int(Config.Carveout)))
      Kernel.Carveout = Config.Carveout;
    if (Config.CacheConfig != Kernel.CacheConfig &&
        keep(Api.FuncSetCacheConfig(Kernel.Function,
                                    CUfunc_cache(Config.CacheConfig))))
      Kernel.CacheConfig = Config.CacheConfig;
    uint64_t Cluster =
        uint64_t(Config.Cluster[0]) * Config.Cluster[1] * Config.Cluster[2];
    if (Cluster > PortableCluster && !Kernel.NonPortableCluster)
      Kernel.NonPortableCluster =
          set(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    return Result;
  }

private:
  void setDynamicLimit(const LaunchConfig &Config) {
    uint32_t Limit = Config.MaxDynamicShared;
    if (Config.DynamicShared > OrdinaryShared)
      Limit = std::max(Limit, Config.DynamicShared);
    // Never lowered: a limit above what a launch uses changes nothing.
    if (Limit > Kernel.DynamicLimit &&
        set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(Limit)))
      Kernel.DynamicLimit = Limit;
  }
  bool set(CUfunction_attribute Attribute, int Value) {
    return keep(Api.FuncSetAttribute(Kernel.Function, Attribute, Value));
  }
  bool keep(CUresult New) {
    if (Result == CUDA_SUCCESS)
      Result = New;
    return New == CUDA_SUCCESS;
  }

  const Driver &Api;
  CudaKernel &Kernel;
  CUresult Result = CUDA_SUCCESS;
};

unsigned launchAttributes(const LaunchConfig &Config,
                          CUlaunchAttribute (&Out)[2]) {
  unsigned Count = 0;
  if (Config.Cooperative) {
    Out[Count].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
    Out[Count++].value.cooperative = 1;
  }
  if (Config.Cluster[0]) {
    Out[Count].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    Out[Count++].value.clusterDim = {Config.Cluster[0], Config.Cluster[1],
                                     Config.Cluster[2]};
  }
  return Count;
}

/// The driver reads as many bytes as it is told; they must be the kernel's.
Error checkArguments(const CudaKernel &Kernel, size_t Given) {
  if (!Kernel.ParameterBytes)
    return Error::success();
  uint64_t Needed = *Kernel.ParameterBytes;
  constexpr uint64_t Padding = 15; // behind the last, up to its alignment
  if (Given >= Needed && Given <= Needed + Padding)
    return Error::success();
  return fail(ErrorCode::Failed,
              "launch with %zu bytes of arguments: the kernel takes %llu",
              Given, (unsigned long long)Needed);
}

} // namespace

Error CudaDevice::launch(KernelHandle Handle, const LaunchConfig &Config,
                         std::span<const uint8_t> Arguments,
                         StreamHandle Stream) {
  CudaKernel &Kernel = *static_cast<CudaKernel *>(Handle);
  if (Error E = checkArguments(Kernel, Arguments.size())) {
    std::lock_guard Lock(FaultLock);
    if (!LastFault.Sticky)
      LastFault = {Outcome::LaunchFailed, E.message(), false};
    return E;
  }
  Scope Enter(*this);
  if (Error E = check(Attributes(Api, Kernel).apply(Config),
                      "cuFuncSetAttribute(Function, Attribute, Value)"))
    return E;
  CUlaunchAttribute Extended[2] = {};
  CUlaunchConfig Launch = {};
  Launch.gridDimX = Config.Grid[0];
  Launch.gridDimY = Config.Grid[1];
  Launch.gridDimZ = Config.Grid[2];
  Launch.blockDimX = Config.Block[0];
  Launch.blockDimY = Config.Block[1];
  Launch.blockDimZ = Config.Block[2];
  Launch.sharedMemBytes = Config.DynamicShared;
  Launch.hStream = static_cast<CUstream>(Stream);
  Launch.attrs = Extended;
  Launch.numAttrs = launchAttributes(Config, Extended);
  size_t Size = std::min<size_t>(
      Arguments.size(), Kernel.ParameterBytes.value_or(Arguments.size()));
  void *Extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER,
                   const_cast<uint8_t *>(Arguments.data()),
                   CU_LAUNCH_PARAM_BUFFER_SIZE, &Size, CU_LAUNCH_PARAM_END};
  void **Parameters = Size ? Extra : nullptr;
  return R3_CUDA_CALL(
      LaunchKernelEx(&Launch, Kernel.Function, nullptr, Parameters));
}

Error CudaDevice::fillScratch(uint8_t Byte, uint32_t LocalBytes,
                              StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->fillScratch(Byte, Limits.Shared, LocalBytes,
                              static_cast<CUstream>(Stream));
}
