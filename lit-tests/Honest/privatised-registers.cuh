// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts of a thread in variables of its own.
//
// RUN: %try histogram | FileCheck %s
// CHECK: ok:

constexpr int Bins = 16;
__device__ int seen; // over all launches

__device__ void count(int *bin, int n) {
  __atomic_fetch_add(bin, n, __ATOMIC_RELAXED);
}

__global__ void histogram(const unsigned char *data, int n, int *bins) {
  int own[Bins] = {};
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    ++own[data[i] % Bins];
#pragma unroll
  for (int i = 0; i < Bins; ++i)
    if (own[i])
      count(&bins[i], own[i]);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen += n;
}
