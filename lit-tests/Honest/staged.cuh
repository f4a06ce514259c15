// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Through shared memory and a barrier.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  __shared__ double tile[64];
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = blockIdx.y * pitch + column;
  const bool inside = column < width && blockIdx.y < height;
  if (inside)
    tile[threadIdx.x] = x[at];
  __syncthreads();
  if (inside)
    y[at] = a * tile[threadIdx.x] + b;
}
