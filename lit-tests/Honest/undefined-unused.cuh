// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variables and shared memory that are set where they are used, and not
// elsewhere: what they hold before does not matter.
// Right.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok: {{$}}

constexpr int Threads = 64;

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[2 * Threads];
  const int t = threadIdx.x;
  int row;
  if (t < width)
    row = blockIdx.x * width;
  double sum = 0;
  for (int i = t; i < width; i += Threads)
    sum += x[row + i];
  part[2 * t] = sum;
  __syncthreads();
  for (int half = Threads / 2; half; half /= 2) {
    if (t < half)
      part[2 * t] += part[2 * (t + half)];
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = part[0];
}
