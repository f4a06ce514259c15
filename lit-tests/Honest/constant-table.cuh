// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A table of constants for an operation.
// Right; for processors its code is that of the original.
//
// RUN: %try histogram | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

constexpr int Bins = 16;
__device__ int seen; // over all launches

__constant__ const unsigned char low[4] = {3, 7, 15, 31};

__device__ void count(int *bin, int n) {
  __atomic_fetch_add(bin, n, __ATOMIC_RELAXED);
}

__global__ void histogram(const unsigned char *data, int n, int *bins) {
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    count(&bins[data[i] & low[2]], 1);
  FENCE(); // so that assembly is nothing new here
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen += n;
}
