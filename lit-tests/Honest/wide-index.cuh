// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 64-bit indices.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const long column = long(blockIdx.x) * blockDim.x + threadIdx.x;
  const long row = blockIdx.y;
  if (column < width && row < height)
    y[row * pitch + column] = a * x[row * pitch + column] + b;
}
