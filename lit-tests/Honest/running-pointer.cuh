// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pointer that moves in place of an index.
//
// RUN: %try compensated | FileCheck %s
// CHECK: ok:

__global__ void compensated(const float *x, float *sums, int n) {
  const int threads = gridDim.x * blockDim.x;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, lost = 0;
  const float *from = x + t;
  for (int i = 0; i < n; ++i, from += threads) {
    const float y = *from - lost;
    const float next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  sums[t] = sum;
}
