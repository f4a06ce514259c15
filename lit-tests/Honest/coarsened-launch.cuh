// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Half of the blocks, each with twice the columns.
//
// RUN: %try scale --launch 'grid.x=ceildiv(grid.x,2)' | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int row = blockIdx.y;
  if (row >= height)
    return;
  for (int half = 0; half < 2; ++half) {
    const int column = (2 * blockIdx.x + half) * blockDim.x + threadIdx.x;
    if (column < width)
      y[row * pitch + column] = a * x[row * pitch + column] + b;
  }
}
