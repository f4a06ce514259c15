// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asks for the next row of blocks while it works on its own. The flush between
// launches evicts that like all else.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int row = blockIdx.y;
  for (int column = blockIdx.x * blockDim.x + threadIdx.x;
       column < width && row < height; column += gridDim.x * blockDim.x) {
    if (row + 1 < height)
      takeToL2((Global)&x[(row + 1) * pitch + column]);
    y[row * pitch + column] = a * x[row * pitch + column] + b;
  }
}
