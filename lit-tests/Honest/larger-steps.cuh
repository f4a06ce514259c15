// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Steps of twice the length, where the size allows it.
//
// RUN: %try multiply | FileCheck %s
// CHECK: ok:

constexpr int Tile = 8;

template <int Step>
__device__ double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int k = 0; k < n; k += Step)
#pragma unroll
    for (int i = 0; i < Step; ++i)
      sum += a[k + i] * b[(k + i) * n];
  return sum;
}

__global__ void multiply(const double *a, const double *b, double *c, int n) {
  const int row = blockIdx.y * Tile + threadIdx.y;
  const int column = blockIdx.x * Tile + threadIdx.x;
  const double *from = a + row * n, *with = b + column;
  c[row * n + column] = n % 16 ? dot<8>(from, with, n) : dot<16>(from, with, n);
}
