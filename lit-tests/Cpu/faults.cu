// Faults and refusals as a program sees them: by CUDA's error codes, and said
// once with the kernel, the place and what to do.
// REQUIRES: plugin
// RUN: clang-r3 -O2 -gline-tables-only %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe assert 2> %t.err | FileCheck %s --check-prefix=ASSERT
// RUN: FileCheck %s --check-prefix=ASSERT-ERR < %t.err
// RUN: R3_DEVICE=cpu %t.exe trap | FileCheck %s --check-prefix=TRAP
// RUN: R3_DEVICE=cpu %t.exe deadlock | FileCheck %s --check-prefix=DEADLOCK
// RUN: R3_DEVICE=cpu %t.exe asm 2> %t.err | FileCheck %s --check-prefix=ASM
// RUN: FileCheck %s --check-prefix=ASM-ERR < %t.err
#include <cassert>
#include <cstdio>
#include <cstring>

__global__ void fine() {}
__global__ void asserts(int N) { assert(N < 7); }
__global__ void traps() { __trap(); }
__global__ void deadlocks() {
  if (threadIdx.x)
    __syncwarp(1u | 1u << threadIdx.x);
  else
    __nvvm_barrier_sync_cnt(1, 64);
}
__global__ void assembly(int *Out) {
  asm("vabsdiff4.u32.u32.u32.add %0, %0, %0, %0;" : "+r"(*Out));
}

int main(int, char **Arguments) {
  const char *What = Arguments[1];
  if (!strcmp(What, "assert"))
    asserts<<<1, 2>>>(9);
  else if (!strcmp(What, "trap"))
    traps<<<1, 1>>>();
  else if (!strcmp(What, "deadlock"))
    deadlocks<<<1, 32>>>();
  else
    assembly<<<1, 1>>>(nullptr);
  printf("launch %s, ", cudaGetErrorName(cudaGetLastError()));
  printf("then %s, ", cudaGetErrorName(cudaDeviceSynchronize()));
  fine<<<1, 1>>>();
  printf("next %s\n", cudaGetErrorName(cudaGetLastError()));
}
// ASSERT: launch {{cudaSuccess|cudaError[A-Za-z]*}}, then cudaErrorAssert, next cudaErrorAssert
// ASSERT-ERR: faults.cu:{{[0-9]+}}: void asserts(int): block: [0,0,0], thread: [0,0,0] Assertion `N < 7` failed.
// TRAP: launch {{cudaSuccess|cudaError[A-Za-z]*}}, then cudaErrorLaunchFailure, next cudaErrorLaunchFailure
// DEADLOCK: launch {{cudaSuccess|cudaError[A-Za-z]*}}, then cudaError{{.*}}, next cudaError
// ASM: launch cudaErrorNotSupported, then cudaSuccess, next cudaSuccess
// ASM-ERR: cannot run inline assembly "vabsdiff4.u32
// ASM-ERR-SAME: faults.cu:[[#]]
