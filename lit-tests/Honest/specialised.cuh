// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolled for one size, and used where it is that.
//
// RUN: %try multiply --specialise arg3=32 | FileCheck %s
// CHECK: ok:

constexpr int Tile = 8;

__global__ void multiply(const double *a, const double *b, double *c, int n) {
  __shared__ double left[Tile][Tile], right[Tile][Tile];
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int column = blockIdx.x * Tile + threadIdx.x;
  double sum = 0;
#pragma unroll
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
