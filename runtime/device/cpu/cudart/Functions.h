// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels as programs name them: by the host stub.
#pragma once

#include "runtime/device/cpu/cudart/Served.h"

namespace r3::cudart {

/// The kernel behind a stub. What is wrong with its device code is said once.
cudaError_t findKernel(const void *Function, cpu::Kernel *&Into);
/// What the program set for it.
FunctionState functionState(const void *Function);
/// Why the CPU device cannot run a kernel, said once.
void sayUnsupported(const cpu::Kernel &Kernel, const Error &Why);

} // namespace r3::cudart
