// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two elements a turn, in the same order.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok:

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[Threads];
  const int t = threadIdx.x;
  double sum = 0;
  const double *row = x + blockIdx.x * width;
  int i = t;
  for (; i + Threads < width; i += 2 * Threads) {
    sum += row[i];
    sum += row[i + Threads];
  }
  if (i < width)
    sum += row[i];
  part[t] = sum;
  __syncthreads();
  for (int half = Threads / 2; half; half /= 2) {
    if (t < half)
      part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = part[0];
}
