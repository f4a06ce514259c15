// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What timing needs of the device: held streams, an empty kernel, clocks,
// rates.
#include "runtime/device/cuda/CudaModule.h"

using namespace r3;

Error CudaDevice::hold(StreamHandle Stream, uint32_t *Word, uint32_t Value) {
  Scope Enter(*this);
  // Memory of cuMemHostAlloc has one address for host and device.
  return R3_CUDA_CALL(StreamWaitValue32(static_cast<CUstream>(Stream),
                                        reinterpret_cast<CUdeviceptr>(Word),
                                        Value, CU_STREAM_WAIT_VALUE_GEQ));
}

Expected<KernelHandle> CudaDevice::emptyKernel() { return Empty.get(); }

Expected<ClockSample> CudaDevice::clocks() {
  if (!Management) {
    Scope Enter(*this);
    char BusId[32] = {};
    if (Error E =
            R3_CUDA_CALL(DeviceGetPCIBusId(BusId, sizeof(BusId), Ordinal)))
      return E;
    Management.emplace(Nvml::open("libnvidia-ml.so.1", BusId));
  }
  if (!*Management)
    return Management->error();
  return (*Management)->read();
}

Error CudaDevice::readRepeatedly(Address Where, uint64_t Size, uint32_t Times,
                                 StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->read(Where, Size, Times, static_cast<CUstream>(Stream));
}

Expected<double> CudaDevice::multiplyAdd(Arithmetic What, uint32_t Rounds,
                                         StreamHandle Stream) {
  Scope Enter(*this);
  return Kernels->multiplyAdd(What, Rounds, static_cast<CUstream>(Stream));
}
