// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The work in a template of its own, with a callable.
// Right; for processors its code is that of the original.
//
// RUN: %try scale | FileCheck %s
// CHECK: {{ok: $|duplicate: its code is the original's}}

template <typename Work>
__device__ void forEach(int width, int height, Work work) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y;
  if (column < width && row < height)
    work(row, column);
}

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  forEach(width, height, [=](int row, int column) {
    y[row * pitch + column] = a * x[row * pitch + column] + b;
  });
}
