// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of functions that kernels call (RuntimeCalls.def), for the linker.
#pragma once

#include "runtime/device/cpu/KernelAbi.h"

#include <span>

namespace r3::cpu {

struct RuntimeCall {
  const char *Name;
  void *Function;
};

std::span<const RuntimeCall> runtimeCalls();

#define R3_RUNTIME_CALL(Result, Name, Parameters)                              \
  extern "C" Result __r3_cpu_##Name Parameters;
#include "runtime/device/cpu/RuntimeCalls.def"

} // namespace r3::cpu
