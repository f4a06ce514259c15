// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts of a block in shared memory, then one addition for each bin.
//
// RUN: %try histogram | FileCheck %s
// CHECK: ok:

constexpr int Bins = 16;
__device__ int seen; // over all launches

__device__ void count(int *bin, int n) {
  __atomic_fetch_add(bin, n, __ATOMIC_RELAXED);
}

__global__ void histogram(const unsigned char *data, int n, int *bins) {
  __shared__ int own[Bins];
  const int stride = gridDim.x * blockDim.x;
  if (threadIdx.x < Bins)
    own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
    count(&own[data[i] % Bins], 1);
  __syncthreads();
  if (threadIdx.x < Bins)
    count(&bins[threadIdx.x], own[threadIdx.x]);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen += n;
}
