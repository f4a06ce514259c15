// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row pointers in place of products in the index.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const double *from = x + blockIdx.y * pitch;
  double *to = y + blockIdx.y * pitch;
  if (column < width && blockIdx.y < height)
    to[column] = a * from[column] + b;
}
