// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Works in the output: reads there what it wrote before.
// Right; for processors its code is that of the original.
//
// RUN: %try scale | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column >= width || row >= height)
    return;
  double *to = &y[row * pitch + column];
  *to = x[row * pitch + column];
  *to = a * *to + b;
}
