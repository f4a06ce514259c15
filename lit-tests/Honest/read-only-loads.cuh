// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads past the first level of cache.
// Right; for processors its code is that of the original.
//
// RUN: %try scale | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < width && row < height)
    y[row * pitch + column] =
        a * __builtin_nontemporal_load(&x[row * pitch + column]) + b;
}
