// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What libr3-cpu.so exports. It is the only library of the runtime that needs
// LLVM and is opened on demand (CpuLoader.cpp).
#pragma once

#include "runtime/device/Device.h"

#include <cstdint>

// Of runtime/record/ImageAbi.h.
struct R3KernelEntry;
struct R3GlobalEntry;

namespace r3 {

/// A unit of the program, for the CUDA runtime calls that the CPU device
/// serves. All pointers stay valid until __r3_cpu_remove_unit.
struct CpuUnit {
  const void *Id;         // the R3UnitTable, to name it again
  const uint8_t *Bitcode; // unoptimised device module
  uint64_t BitcodeSize;
  const char *Level;  // "O2"
  const char *Source; // for messages
  bool UseWinners;    // honour kernels' "r3-variant" attributes
  uint32_t KernelCount;
  uint32_t GlobalCount;
  const R3KernelEntry *Kernels;
  const R3GlobalEntry *Globals;
};

} // namespace r3

#pragma GCC visibility push(default)
extern "C" {
/// The process's CPU device (one, shared; the caller does not delete it, the
/// wrapper of openCpuDevice does not either).
r3::Device *__r3_cpu_device();
/// The CUDA runtime function NAME served on the CPU device, or null. Has the
/// signature of cudart's function.
const void *__r3_cpu_function(const char *Name);
void __r3_cpu_add_unit(const r3::CpuUnit *Unit);
void __r3_cpu_remove_unit(const void *Id);
}
#pragma GCC visibility pop
