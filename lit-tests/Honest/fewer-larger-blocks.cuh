// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One block of 128 threads a row, and shared memory that grows with it.
//
// RUN: %try scale --launch grid.x=1 --launch 'block.x=2*block.x' --launch 'shared=16*block.x' | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  extern __shared__ double line[];
  const int at = blockIdx.y * pitch;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    line[threadIdx.x] = x[at + i], y[at + i] = a * line[threadIdx.x] + b;
  if (blockIdx.y >= height)
    y[at] = 0;
}
