// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over columns, for grids of any width.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  for (int row = blockIdx.y; row < height; row += gridDim.y)
    for (int column = blockIdx.x * blockDim.x + threadIdx.x; column < width;
         column += gridDim.x * blockDim.x)
      y[row * pitch + column] = a * x[row * pitch + column] + b;
}
