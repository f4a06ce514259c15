// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the launch is, for the compiler.
//
// RUN: %try multiply | FileCheck %s
// CHECK: {{ok:|duplicate: its code is the original's}}

constexpr int Tile = 8;

__global__ __attribute__((launch_bounds(Tile * Tile))) void
multiply(const double *a, const double *b, double *c, int n) {
  __shared__ double left[Tile][Tile], right[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int column = blockIdx.x * Tile + threadIdx.x;
  double sum = 0;
  for (int k = 0; k < n; k += Tile) {
    left[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < Tile; ++i)
      sum += left[threadIdx.y][i] * right[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
