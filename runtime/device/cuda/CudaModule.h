// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A module loaded by the CUDA device, and its kernels.
#pragma once

#include "runtime/device/cuda/CudaDevice.h"

#include <map>

namespace r3 {

/// What a KernelHandle of the CUDA device points to; owned by its module. The
/// attributes are those last set, so that a timing loop sets nothing.
struct CudaKernel {
  CUfunction Function = nullptr;
  /// Bytes of the parameters; unknown where the driver cannot tell.
  std::optional<uint64_t> ParameterBytes;
  uint32_t DynamicLimit = 0; // 0: as loaded
  uint32_t Carveout = 0xffffffffu;
  uint8_t CacheConfig = 0;
  bool NonPortableCluster = false;
};

class CudaModule final : public DeviceModule {
public:
  CudaModule(CudaDevice &Owner, CUmodule Module)
      : Owner(Owner), Module(Module) {}
  ~CudaModule() override;
  Expected<KernelHandle> kernel(const std::string &Name) override;
  Expected<AddressRange> global(const std::string &Name) override;

private:
  CudaDevice &Owner;
  CUmodule Module;
  std::map<std::string, CudaKernel> Kernels;
};

} // namespace r3
