// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each thread counts neighbours.
//
// RUN: %try histogram | FileCheck %s
// CHECK: ok:

constexpr int Bins = 16;
__device__ int seen; // over all launches

__device__ void count(int *bin, int n) {
  __atomic_fetch_add(bin, n, __ATOMIC_RELAXED);
}

__global__ void histogram(const unsigned char *data, int n, int *bins) {
  const int threads = gridDim.x * blockDim.x;
  const int each = (n + threads - 1) / threads;
  const int begin = (blockIdx.x * blockDim.x + threadIdx.x) * each;
  for (int i = begin; i < begin + each && i < n; ++i)
    count(&bins[data[i] % Bins], 1);
  if (blockIdx.x == 0 && threadIdx.x == 0)
    seen += n;
}
