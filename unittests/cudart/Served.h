// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls go through __r3_cpu_function, as those of programs do.
#pragma once

#include "runtime/device/cpu/CpuAbi.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <string>

namespace r3 {

template <typename Function> Function *served(const char *Name) {
  auto *Found =
      reinterpret_cast<Function *>(const_cast<void *>(__r3_cpu_function(Name)));
  if (!Found)
    ADD_FAILURE() << Name << " is not served";
  return Found;
}

} // namespace r3

/// The served form of a CUDA function.
#define R3_CALL(Name) (r3::served<decltype(::Name)>(#Name))
