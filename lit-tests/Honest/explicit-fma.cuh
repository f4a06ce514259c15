// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The contraction that the compiler makes, by name.
// Right; for processors its code is that of the original.
//
// RUN: %try scale | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < width && row < height)
    y[row * pitch + column] = __builtin_fma(a, x[row * pitch + column], b);
}
