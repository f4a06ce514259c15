// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening and attaching, identity, faults and what a recorder asks about the
// program's context.
#include "runtime/device/cuda/CudaDevice.h"

#include "runtime/device/cuda/CudaModule.h"

using namespace r3;

CudaDevice::Scope::Scope(const CudaDevice &D) : D(D) {
  CUcontext Current = nullptr;
  D.Api.CtxGetCurrent(&Current);
  // A failed push shows in the call that follows.
  Pushed =
      Current != D.Context && D.Api.CtxPushCurrent(D.Context) == CUDA_SUCCESS;
  if (!D.Owns)
    D.Api.ThreadExchangeStreamCaptureMode(&Mode);
}

CudaDevice::Scope::~Scope() {
  if (!D.Owns)
    D.Api.ThreadExchangeStreamCaptureMode(&Mode);
  CUcontext Popped = nullptr;
  if (Pushed)
    D.Api.CtxPopCurrent(&Popped);
}

CudaDevice::CudaDevice(const Driver &Api, CUcontext Context, CUdevice Ordinal,
                       bool Owns)
    : Api(Api), Context(Context), Ordinal(Ordinal), Owns(Owns) {}

CudaDevice::~CudaDevice() {
  {
    Scope Enter(*this);
    if (BehindLegacy)
      Api.StreamDestroy(BehindLegacy);
    Kernels.reset();
  }
  if (Owns)
    Api.DevicePrimaryCtxRelease(Ordinal);
}

namespace {

/// A driver call before there is a device to keep the fault.
Error checkAlone(const Driver &Api, CUresult Result, const char *Call) {
  if (Result == CUDA_SUCCESS)
    return Error::success();
  return Error(classify(Result).Code,
               std::string(Call) + ": " + Api.describe(Result));
}

/// The context of device Number, made by this process.
Error retainContext(const Driver &Api, int Number, CUdevice &Ordinal,
                    CUcontext &Context) {
  auto check = [&](CUresult Result, const char *Call) {
    return checkAlone(Api, Result, Call);
  };
  int Count = 0;
  if (Error E = R3_CUDA_CALL(Init(0)))
    return E;
  if (Error E = R3_CUDA_CALL(DeviceGetCount(&Count)))
    return E;
  if (Number < 0 || Number >= Count)
    return fail(ErrorCode::CannotRunHere,
                "no CUDA device %d: this machine has %d", Number, Count);
  if (Error E = R3_CUDA_CALL(DeviceGet(&Ordinal, Number)))
    return E;
  if (Error E = R3_CUDA_CALL(DevicePrimaryCtxRetain(&Context, Ordinal)))
    return E;
  if (Error E = R3_CUDA_CALL(CtxSetCurrent(Context))) {
    Api.DevicePrimaryCtxRelease(Ordinal);
    return E;
  }
  return Error::success();
}

} // namespace

Expected<std::unique_ptr<Device>> CudaDevice::open(int Number) {
  Expected<const Driver *> Api = loadDriver();
  if (!Api)
    return Api.error();
  CUdevice Ordinal = 0;
  CUcontext Context = nullptr;
  if (Error E = retainContext(**Api, Number, Ordinal, Context))
    return E;
  std::unique_ptr<CudaDevice> D(
      new CudaDevice(**Api, Context, Ordinal, /*Owns=*/true));
  if (Error E = D->start())
    return E;
  return std::unique_ptr<Device>(std::move(D));
}

Expected<std::unique_ptr<Device>> CudaDevice::attach() {
  Expected<const Driver *> Loaded = loadDriver();
  if (!Loaded)
    return Loaded.error();
  const Driver &Api = **Loaded;
  auto check = [&](CUresult Result, const char *Call) {
    return checkAlone(Api, Result, Call);
  };
  CUcontext Context = nullptr;
  CUdevice Ordinal = 0;
  if (Error E = R3_CUDA_CALL(CtxGetCurrent(&Context)))
    return E;
  if (!Context)
    return fail(ErrorCode::NotFound,
                "the calling thread has no current CUDA context");
  if (Error E = R3_CUDA_CALL(CtxGetDevice(&Ordinal)))
    return E;
  std::unique_ptr<CudaDevice> D(
      new CudaDevice(Api, Context, Ordinal, /*Owns=*/false));
  if (Error E = D->start())
    return E;
  return std::unique_ptr<Device>(std::move(D));
}

Error CudaDevice::start() {
  Scope Enter(*this);
  if (Error E = readIdentity())
    return E;
  if (Error E = readLimits())
    return E;
  CUmemAllocationProp Properties = memoryProperties();
  if (Error E = R3_CUDA_CALL(MemGetAllocationGranularity(
          &Granularity, &Properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM)))
    return E;
  if (Error E = R3_CUDA_CALL(StreamCreate(&BehindLegacy, CU_STREAM_DEFAULT)))
    return E;
  auto Check = [this](CUresult Result, const char *Call) {
    return check(Result, Call);
  };
  Expected<std::unique_ptr<CudaKernels>> Loaded =
      CudaKernels::load(Api, Check, Identity.Multiprocessors, Identity.L2Bytes);
  if (!Loaded)
    return Loaded.error();
  Kernels = std::move(*Loaded);
  Empty = std::make_unique<CudaKernel>();
  Empty->Function = Kernels->emptyFunction();
  Empty->ParameterBytes = 0;
  return Error::success();
}

Expected<int> CudaDevice::attribute(CUdevice_attribute Which) {
  int Value = 0;
  if (Error E = R3_CUDA_CALL(DeviceGetAttribute(&Value, Which, Ordinal)))
    return E;
  return Value;
}

Error CudaDevice::readLimits() {
  const struct {
    CUdevice_attribute Attribute;
    uint32_t *Value;
  } Wanted[] = {
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &Limits.Grid[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &Limits.Grid[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &Limits.Grid[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &Limits.Block[0]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &Limits.Block[1]},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &Limits.Block[2]},
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &Limits.Threads},
      {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &Limits.Shared},
  };
  for (auto &Row : Wanted) {
    Expected<int> Value = attribute(Row.Attribute);
    if (!Value)
      return Value.error();
    *Row.Value = static_cast<uint32_t>(*Value);
  }
  return Error::success();
}

Error CudaDevice::readIdentity() {
  constexpr CUdevice_attribute Wanted[] = {
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
      CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
      CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
      CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE};
  int Values[std::size(Wanted)];
  for (size_t I = 0; I < std::size(Wanted); ++I) {
    Expected<int> Value = attribute(Wanted[I]);
    if (!Value)
      return Value.error();
    Values[I] = *Value;
  }
  char Name[256] = {};
  size_t Memory = 0;
  int Version = 0;
  if (Error E = R3_CUDA_CALL(DeviceGetName(Name, sizeof(Name), Ordinal)))
    return E;
  if (Error E = R3_CUDA_CALL(DeviceTotalMem(&Memory, Ordinal)))
    return E;
  if (Error E = R3_CUDA_CALL(DriverGetVersion(&Version)))
    return E;
  Identity.Backend = "cuda";
  Identity.Name = Name;
  Identity.Arch = format("sm_%d%d", Values[0], Values[1]);
  Identity.Multiprocessors = Values[2];
  Identity.L2Bytes = Values[3];
  Identity.MemoryBytes = Memory;
  Identity.Driver = format("CUDA %d.%d", Version / 1000, Version % 1000 / 10);
  Identity.Tools = R3_TOOL_VERSIONS;
  Identity.Key = format("%s %s %uSM %lluMB", Identity.Arch.c_str(), Name,
                        Identity.Multiprocessors,
                        (unsigned long long)(Identity.L2Bytes >> 20));
  return Error::success();
}

Error CudaDevice::check(CUresult Result, const char *Call) {
  if (Result == CUDA_SUCCESS)
    return Error::success();
  CudaFault Fault = classify(Result);
  Error Failure(Fault.Code, std::string(Call) + ": " + Api.describe(Result));
  std::lock_guard Lock(FaultLock);
  // After a sticky fault every call fails; the first one tells the reason.
  if (!LastFault.Sticky)
    LastFault = {Fault.Kind, Failure.message(), Fault.Sticky};
  return Failure;
}

DeviceFault CudaDevice::fault() {
  std::lock_guard Lock(FaultLock);
  return LastFault;
}

bool CudaDevice::isCurrent() {
  CUcontext Current = nullptr;
  return Api.CtxGetCurrent(&Current) == CUDA_SUCCESS && Current == Context;
}

bool CudaDevice::isCapturing(StreamHandle Stream) {
  Scope Enter(*this);
  CUstreamCaptureStatus Status = CU_STREAM_CAPTURE_STATUS_NONE;
  CUresult Result =
      Api.StreamIsCapturing(static_cast<CUstream>(Stream), &Status);
  // The legacy stream while another blocking stream is being captured.
  if (Result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
    return true;
  return Result == CUDA_SUCCESS && Status != CU_STREAM_CAPTURE_STATUS_NONE;
}

Error CudaDevice::recordLegacy(EventHandle Event) {
  Scope Enter(*this);
  // Work in a blocking stream waits for the legacy stream; an event alone
  // need not, so a kernel goes before it.
  if (Error E = Kernels->empty(BehindLegacy))
    return E;
  return R3_CUDA_CALL(EventRecord(static_cast<CUevent>(Event), BehindLegacy));
}

Error CudaDevice::globalIn(CUmodule Module, const std::string &Name,
                           AddressRange &Range) {
  CUdeviceptr Where = 0;
  size_t Size = 0;
  CUresult Result = Api.ModuleGetGlobal(&Where, &Size, Module, Name.c_str());
  Range = {Where, Size};
  if (Result == CUDA_ERROR_NOT_FOUND)
    return fail(ErrorCode::NotFound, "the module has no global %s",
                Name.c_str());
  return check(Result, "cuModuleGetGlobal(&Where, &Size, Module, Name)");
}

Expected<AddressRange> CudaDevice::globalOf(void *Function,
                                            const std::string &Name) {
  Scope Enter(*this);
  CUmodule Module = nullptr;
  AddressRange Range;
  if (Error E = R3_CUDA_CALL(
          FuncGetModule(&Module, static_cast<CUfunction>(Function))))
    return E;
  if (Error E = globalIn(Module, Name, Range))
    return E;
  return Range;
}

Expected<std::unique_ptr<Device>> r3::openCudaDevice(int Ordinal) {
  return CudaDevice::open(Ordinal);
}

Expected<std::unique_ptr<Device>> r3::attachCudaDevice() {
  return CudaDevice::attach();
}
