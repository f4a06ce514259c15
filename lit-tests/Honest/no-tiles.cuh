// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without shared memory, in the same order.
//
// RUN: %try multiply | FileCheck %s
// CHECK: ok:

constexpr int Tile = 8;

__global__ void multiply(const double *a, const double *b, double *c, int n) {
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int column = blockIdx.x * Tile + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; ++k)
    sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
