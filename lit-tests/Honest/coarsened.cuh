// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Half of the threads do the work of two.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int row = blockIdx.y;
  if (row >= height)
    return;
  const int at = row * pitch + column;
  if (column < width)
    y[at] = a * x[at] + b;
  if (column + 1 < width)
    y[at + 1] = a * x[at + 1] + b;
}
