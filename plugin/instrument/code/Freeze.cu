// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device side of the build with frozen undefined values: called by all
// threads of a block at the start of its kernel. Compiled without CUDA's
// headers.
#include <stdint.h>

#define R3_DEVICE __attribute__((device))

/// Fills shared memory; followed by a barrier.
extern "C" R3_DEVICE void __r3_freeze_fill(void *Where, uint64_t Size,
                                           uint8_t Byte) {
  const uint32_t X = __nvvm_read_ptx_sreg_ntid_x(),
                 Y = __nvvm_read_ptx_sreg_ntid_y(),
                 Z = __nvvm_read_ptx_sreg_ntid_z();
  const uint32_t Thread =
      __nvvm_read_ptx_sreg_tid_x() +
      X * (__nvvm_read_ptx_sreg_tid_y() + Y * __nvvm_read_ptx_sreg_tid_z());
  auto *Bytes = static_cast<uint8_t *>(Where);
  for (uint64_t I = Thread; I < Size; I += uint64_t(X) * Y * Z)
    Bytes[I] = Byte;
}

extern "C" R3_DEVICE uint64_t __r3_freeze_dynamic_size() {
  uint32_t Size;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(Size));
  return Size;
}

extern "C" R3_DEVICE void __r3_freeze_barrier() { __syncthreads(); }
