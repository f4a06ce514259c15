// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads ahead of what is written, for launches in which that is elsewhere.
//
// RUN: %try scale --guard 'distinct(arg0,arg1)' | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *__restrict x, double *__restrict y,
                      int width, int height, int pitch, double a, double b) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < width && row < height)
    y[row * pitch + column] = a * x[row * pitch + column] + b;
}
