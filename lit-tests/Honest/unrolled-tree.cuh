// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tree without its loop.
// Right; for processors its code is that of the original.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[Threads];
  const int t = threadIdx.x;
  double sum = 0;
  for (int i = t; i < width; i += Threads)
    sum += x[blockIdx.x * width + i];
  part[t] = sum;
  __syncthreads();
#pragma unroll
  for (int half = Threads / 2; half; half /= 2) {
    if (t < half)
      part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = part[0];
}
