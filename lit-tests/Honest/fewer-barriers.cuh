// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The last of the tree by one thread, in the order of the tree.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok:

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[Threads];
  const int t = threadIdx.x;
  double sum = 0;
  for (int i = t; i < width; i += Threads)
    sum += x[blockIdx.x * width + i];
  part[t] = sum;
  __syncthreads();
  for (int half = Threads / 2; half > 2; half /= 2) {
    if (t < half)
      part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = (part[0] + part[2]) + (part[1] + part[3]);
}
