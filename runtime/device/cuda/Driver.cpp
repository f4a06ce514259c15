// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/device/cuda/Driver.h"

#include <dlfcn.h>

using namespace r3;

std::string Driver::describe(CUresult Result) const {
  // The stub cannot name its own error.
  if (Result == CUDA_ERROR_STUB_LIBRARY)
    return "this libcuda is the stub for linking, not a driver";
  const char *Name = nullptr, *Text = nullptr;
  GetErrorName(Result, &Name);
  GetErrorString(Result, &Text);
  if (!Name)
    return "unknown CUDA error " + std::to_string(int(Result));
  return Text ? std::string(Name) + ": " + Text : Name;
}

Expected<Driver> r3::openDriver(const char *Library) {
  void *Handle = dlopen(Library, RTLD_NOW | RTLD_LOCAL);
  if (!Handle)
    return fail(ErrorCode::CannotRunHere, "no CUDA driver: %s", dlerror());
  // The library stays open: its functions are used until the process ends.
  Driver Api;
#define R3_DRIVER_OPTIONAL(Name, Symbol, ...)                                  \
  Api.Name = reinterpret_cast<decltype(Api.Name)>(dlsym(Handle, #Symbol));
#define R3_DRIVER(Name, Symbol)                                                \
  R3_DRIVER_OPTIONAL(Name, Symbol, )                                           \
  if (!Api.Name)                                                               \
    return fail(ErrorCode::CannotRunHere,                                      \
                "%s has no %s: the CUDA driver is too old", Library, #Symbol);
#include "runtime/device/cuda/Driver.def"
  return Api;
}

Expected<const Driver *> r3::loadDriver() {
  static const Expected<Driver> Api = openDriver("libcuda.so.1");
  if (!Api)
    return Api.error();
  return &*Api;
}

namespace {

struct FaultRow {
  CUresult Result;
  CudaFault Fault;
};

constexpr CudaFault Accessed{ErrorCode::Failed, Outcome::IllegalAccess, true};
constexpr CudaFault Dead{ErrorCode::Failed, Outcome::Crashed, true};
constexpr CudaFault Refused{ErrorCode::Failed, Outcome::LaunchFailed, false};
constexpr CudaFault Absent{ErrorCode::CannotRunHere, Outcome::WorkerLost,
                           false};

// Sticky: cuda.h says "leaves the process in an inconsistent state", or the
// device itself failed. The rest is Refused.
constexpr FaultRow FaultRows[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, Accessed},
    {CUDA_ERROR_MISALIGNED_ADDRESS, Accessed},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, Accessed},
    {CUDA_ERROR_INVALID_PC, Accessed},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, Accessed},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, Accessed}, // also trap
    {CUDA_ERROR_LAUNCH_FAILED, Accessed},       // also trap
    {CUDA_ERROR_ASSERT, Accessed},
    {CUDA_ERROR_LAUNCH_TIMEOUT, {ErrorCode::Timeout, Outcome::Timeout, true}},
    {CUDA_ERROR_ECC_UNCORRECTABLE, Dead},
    {CUDA_ERROR_NVLINK_UNCORRECTABLE, Dead},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, Dead},
    {CUDA_ERROR_EXTERNAL_DEVICE, Dead},
    {CUDA_ERROR_MPS_CLIENT_TERMINATED, Dead},
    {CUDA_ERROR_DEINITIALIZED, Dead},
    {CUDA_ERROR_UNKNOWN, Dead},
#if CUDA_VERSION >= 13000
    {CUDA_ERROR_CONTAINED, Dead},
    {CUDA_ERROR_TENSOR_MEMORY_LEAK, Accessed},
#endif
    {CUDA_ERROR_OUT_OF_MEMORY,
     {ErrorCode::NoSpace, Outcome::OutOfMemory, false}},
    {CUDA_ERROR_NOT_FOUND, {ErrorCode::NotFound, Outcome::LaunchFailed, false}},
    {CUDA_ERROR_STUB_LIBRARY, Absent},
    {CUDA_ERROR_NO_DEVICE, Absent},
    {CUDA_ERROR_INVALID_DEVICE, Absent},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, Absent},
    {CUDA_ERROR_DEVICE_NOT_LICENSED, Absent},
    {CUDA_ERROR_SYSTEM_NOT_READY, Absent},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, Absent},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, Absent},
    {CUDA_ERROR_NOT_PERMITTED, Absent},
    {CUDA_ERROR_NOT_SUPPORTED, Absent},
    {CUDA_ERROR_MPS_CONNECTION_FAILED, Absent},
    {CUDA_ERROR_MPS_RPC_FAILURE, Absent},
    {CUDA_ERROR_MPS_SERVER_NOT_READY, Absent},
    {CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, Absent},
    {CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED, Absent},
};

} // namespace

CudaFault r3::classify(CUresult Result) {
  if (Result == CUDA_SUCCESS)
    return {ErrorCode::Ok, Outcome::Ok, false};
  for (const FaultRow &Row : FaultRows)
    if (Row.Result == Result)
      return Row.Fault;
  return Refused;
}
