// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads without work leave at once.
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
  const int at = row * pitch + column;
  y[at] = a * x[at] + b;
}
