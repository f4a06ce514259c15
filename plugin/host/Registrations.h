// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels and variables that a host module registers with CUDA's runtime.
#pragma once

#include "llvm/IR/Module.h"

#include <cstdint>
#include <string>
#include <vector>

namespace r3::plugin {

struct Registration {
  llvm::Constant *Host = nullptr; // stub function or shadow variable
  std::string Name;               // in the device module
  uint64_t Size = 0;              // of a variable
};

struct Registrations {
  std::vector<Registration> Kernels;
  std::vector<Registration> Variables;
  llvm::Constant *Fatbin = nullptr; // null with -fgpu-rdc

  bool empty() const { return Kernels.empty() && Variables.empty(); }
};

/// Reads __cuda_register_globals, or clang's offload entries (-fgpu-rdc).
Registrations readRegistrations(llvm::Module &M);

} // namespace r3::plugin
