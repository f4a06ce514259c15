// A program that faults on the GPU, or launches what cannot run, gets the errors
// that it gets without R3, also while a launch is recorded; the launch is then
// not recorded, with a reason.
// REQUIRES: gpu, plugin
// RUN: clang-r3 %cuda -O2 %s -o %t.exe %cudart
// RUN: %clang %cuda -O2 %s -o %t.without %cudart
// RUN: for Kind in config illegal misaligned trap assert; do \
// RUN:   %t.without $Kind > %t.plain 2> /dev/null; \
// RUN:   R3_DEVICE=%device %t.exe $Kind 2> /dev/null | diff %t.plain - >&2 || exit 1; \
// RUN:   R3_DEVICE=%device R3_RECORD=1 %t.exe $Kind 2> %t.err | diff %t.plain - >&2 || exit 1; \
// RUN:   cat %t.plain %t.err; done > %t.all
// RUN: FileCheck %s --input-file=%t.all
// RUN: r3 list | FileCheck %s --check-prefix=LIST
// RUN: r3 replay --device %device -n 1 | FileCheck %s --check-prefix=REPLAY
#include <cassert>
#include <cstdio>
#include <cstring>
__global__ void fine(int *P) { P[threadIdx.x] += 1; }
__global__ void illegal(int *) { *(volatile int *)16 = 1; }
__global__ void misaligned(char *P) { *(volatile int *)(P + 2) = 1; }
__global__ void traps(int *) { __trap(); }
__global__ void asserts(int *P) { assert(P[0] == 7); }
int main(int, char **Arguments) {
  const char *Kind = Arguments[1];
  int *P;
  cudaMalloc(&P, 128);
  cudaMemset(P, 0, 128);
  fine<<<1, 32>>>(P);
  if (!strcmp(Kind, "config")) {
    fine<<<1, 4096>>>(P);
    printf("%s, ", cudaGetErrorName(cudaGetLastError()));
  } else if (!strcmp(Kind, "illegal"))
    illegal<<<1, 1>>>(P);
  else if (!strcmp(Kind, "misaligned"))
    misaligned<<<1, 1>>>((char *)P);
  else if (!strcmp(Kind, "trap"))
    traps<<<1, 1>>>(P);
  else
    asserts<<<1, 1>>>(P);
  printf("%s, ", cudaGetErrorName(cudaDeviceSynchronize()));
  fine<<<1, 32>>>(P);
  printf("%s, ", cudaGetErrorName(cudaGetLastError()));
  printf("%s\n", cudaGetErrorName(cudaFree(P)));
}
// CHECK: cudaErrorInvalid{{[A-Za-z]+}}, cudaSuccess
// CHECK: r3: fine: not recorded: the launch itself failed
// CHECK: cudaErrorIllegalAddress, cudaErrorIllegalAddress, cudaErrorIllegalAddress
// CHECK: r3: illegal: not recorded: the device reported an error
// CHECK: cudaErrorMisalignedAddress
// CHECK: r3: misaligned: not recorded: the device reported an error
// CHECK: cudaErrorLaunchFailure
// CHECK: r3: traps: not recorded: the device reported an error
// CHECK: cudaErrorAssert
// CHECK: r3: asserts: not recorded: the device reported an error
// LIST-DAG: fine {{.*}} replayable
// LIST-DAG: asserts {{.*}} device-error
// REPLAY: fine {{.*}} bit for bit
