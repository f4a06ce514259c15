// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plain sum in double is nearer to the exact one than the original is.
//
// RUN: %try compensated | FileCheck %s
// CHECK: ok:

__global__ void compensated(const float *x, float *sums, int n) {
  const int threads = gridDim.x * blockDim.x;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  double sum = 0;
  for (int i = 0; i < n; ++i)
    sum += double(x[i * threads + t]);
  sums[t] = float(sum);
}
