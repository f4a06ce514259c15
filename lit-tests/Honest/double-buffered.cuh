// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two halves of shared memory in turn.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok:

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[2][Threads];
  const int t = threadIdx.x;
  double sum = 0;
  for (int i = t; i < width; i += Threads)
    sum += x[blockIdx.x * width + i];
  part[0][t] = sum;
  __syncthreads();
  int from = 0;
  for (int half = Threads / 2; half; half /= 2) {
    if (t < half)
      part[1 - from][t] = part[from][t] + part[from][t + half];
    from = 1 - from;
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = part[from][0];
}
