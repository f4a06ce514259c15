// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The next element is loaded before the last is added.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok:

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[Threads];
  const int t = threadIdx.x;
  double sum = 0;
  const double *row = x + blockIdx.x * width;
  double next = t < width ? row[t] : 0;
  for (int i = t; i < width; i += Threads) {
    const double now = next;
    if (i + Threads < width)
      next = row[i + Threads];
    sum += now;
  }
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
