// A fault stays: every later call reports it until a reset, and what is not
// served is refused by name, once.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O1 %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe 2> %t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --input-file=%t.err
// RUN: R3_DEVICE=cpu R3_QUIET=1 %t.exe 2>&1 | not grep r3:
#include <cassert>
#include <cstdio>

__global__ void fails(int N) { assert(N == 1 && "on purpose"); }
__global__ void works(int *P) { *P = 7; }
#define SHOW(Call) std::printf("%s: %s\n", #Call, cudaGetErrorName(Call))

int main() {
  int *P;
  cudaStream_t S;
  cudaGraph_t G;
  SHOW(cudaGraphCreate(&G, 0));
  SHOW(cudaGraphCreate(&G, 0));
  SHOW(cudaGetLastError());
  fails<<<1, 1>>>(2);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMalloc(&P, 4));
  SHOW(cudaStreamCreate(&S));
  SHOW(cudaGetLastError());
  SHOW(cudaPeekAtLastError());
  SHOW(cudaDeviceReset());
  SHOW(cudaMallocManaged(&P, 4));
  works<<<1, 1>>>(P);
  SHOW(cudaDeviceSynchronize());
  std::printf("%d\n", *P);
}
// CHECK: cudaGraphCreate(&G, 0): cudaErrorNotSupported
// CHECK-NEXT: cudaGraphCreate(&G, 0): cudaErrorNotSupported
// CHECK: cudaDeviceSynchronize(): cudaErrorAssert
// CHECK-NEXT: cudaMalloc(&P, 4): cudaErrorAssert
// CHECK-NEXT: cudaStreamCreate(&S): cudaErrorAssert
// CHECK-NEXT: cudaGetLastError(): cudaErrorAssert
// CHECK-NEXT: cudaPeekAtLastError(): cudaErrorAssert
// CHECK-NEXT: cudaDeviceReset(): cudaSuccess
// CHECK-NEXT: cudaMallocManaged(&P, 4): cudaSuccess
// CHECK-NEXT: cudaDeviceSynchronize(): cudaSuccess
// CHECK-NEXT: 7
// ERR: r3: cudaGraphCreate is not served by the CPU device
// ERR-NOT: cudaGraphCreate
// ERR: Assertion `
// ERR: r3: CPU device: {{.*}}fails{{.*}}assertion
// ERR-NOT: r3:
