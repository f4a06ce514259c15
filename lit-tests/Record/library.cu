// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library that is loaded, used and unloaded twice, and the program's own
// kernel between; the shared CUDA runtime.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -DLIBRARY -fPIC -shared %s -o %t.so -L%cudalib -lcudart
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 %s -o %t -L%cudalib -lcudart -Wl,-rpath,%cudalib
// RUN: env R3_DEVICE=%device %t %t.so > %t.plain
// RUN: FileCheck %s --input-file=%t.plain
// RUN: env R3_DEVICE=%device R3_RECORD=1 %t %t.so | diff %t.plain -
// RUN: r3 list | FileCheck %s --check-prefix=LIST
// CHECK: sum 448
// LIST-DAG: twice {{.*}} replayable
// LIST-DAG: plus {{.*}} replayable
#ifdef LIBRARY
static __device__ int Calls;
__global__ void twice(int *p) {
  p[threadIdx.x] *= 2;
  if (!threadIdx.x) ++Calls;
}
extern "C" void run(int *p) { twice<<<1, 64>>>(p); }
#else
#include <cstdio>
#include <dlfcn.h>
__global__ void plus(int *p) { p[threadIdx.x] += 1; }
int main(int, char **argv) {
  int h[64], *d, sum = 0;
  cudaMalloc(&d, sizeof(h));
  cudaMemset(d, 0, sizeof(h));
  for (int i = 0; i < 3; ++i) {
    plus<<<1, 64>>>(d);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (i < 2) ((void (*)(int *))dlsym(library, "run"))(d);
    cudaDeviceSynchronize();
    dlclose(library);
  }
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  for (int v : h) sum += v;
  printf("sum %d\n", sum);
}
#endif
