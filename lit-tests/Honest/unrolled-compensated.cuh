// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Four turns at once, each after the other.
//
// RUN: %try compensated | FileCheck %s
// CHECK: ok:

__global__ void compensated(const float *x, float *sums, int n) {
  const int threads = gridDim.x * blockDim.x;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0, lost = 0;
#pragma unroll 4
  for (int i = 0; i < n; ++i) {
    const float y = x[i * threads + t] - lost;
    const float next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
  sums[t] = sum;
}
