// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pairs, for launches whose addresses and rows allow them.
//
// RUN: %try scale --guard 'align(arg0,16)' --guard 'align(arg1,16)' --guard 'divides(2,arg4)' | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const int at = blockIdx.y * pitch + column;
  if (column >= width || blockIdx.y >= height)
    return;
  if (column + 1 == width) {
    y[at] = a * x[at] + b;
    return;
  }
  const double2 two = *reinterpret_cast<const double2 *>(x + at);
  *reinterpret_cast<double2 *>(y + at) = {a * two.x + b, a * two.y + b};
}
