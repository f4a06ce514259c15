// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the same from the end on.
//
// RUN: %try collect --unordered arg2=8 | FileCheck %s
// CHECK: ok:

struct Found {
  int where;
  float value;
};

__device__ int place(int *count) {
  return __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

__global__ void collect(const float *x, int n, Found *found, int *count) {
  const int threads = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    const int last = n - 1 - i;
    if (x[last] > 0)
      found[place(count)] = {last, x[last]};
  }
}
