// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is not recorded for now has its reason, and the program goes on.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 %s -o %t %cudart
// RUN: env R3_DEVICE=%device R3_RECORD=1 %t > %t.out 2> %t.err
// RUN: FileCheck %s --input-file=%t.err
// RUN: r3 list | FileCheck %s --check-prefix=LIST
#include <cstdio>
__global__ void clustered(int *p) { p[threadIdx.x] += 1; }
__global__ void heap(int **p) { *p = (int *)malloc(64); }
int main() {
  int *d;
  cudaMalloc(&d, 64 * sizeof(int));
  cudaLaunchAttribute a = {};
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim.x = 2;
  a.val.clusterDim.y = a.val.clusterDim.z = 1;
  cudaLaunchConfig_t c = {};
  c.gridDim = 2;
  c.blockDim = 32;
  c.attrs = &a;
  c.numAttrs = 1;
  void *args[] = {&d};
  (void)cudaLaunchKernelExC(&c, (void *)clustered, args);
  heap<<<1, 1>>>((int **)d);
  cudaDeviceSynchronize();
}
// CHECK-DAG: r3: clustered: not recorded: launched with thread block clusters
// CHECK-DAG: r3: heap: not recorded: the kernel allocates or frees device heap memory
// LIST-DAG: clustered {{.*}} cluster
// LIST-DAG: heap {{.*}} device-malloc
