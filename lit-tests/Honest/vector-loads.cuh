// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pairs where the address allows it, and single elements else.
//
// RUN: %try scale | FileCheck %s
// CHECK: ok:

__global__ void scale(const double *x, double *y, int width, int height,
                      int pitch, double a, double b) {
  const int column = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  const double *from = x + blockIdx.y * pitch + column;
  double *to = y + blockIdx.y * pitch + column;
  if (blockIdx.y >= height || column >= width)
    return;
  if (column + 1 < width && reinterpret_cast<size_t>(from) % 16 == 0 &&
      reinterpret_cast<size_t>(to) % 16 == 0) {
    const double2 two = *reinterpret_cast<const double2 *>(from);
    *reinterpret_cast<double2 *>(to) = {a * two.x + b, a * two.y + b};
    return;
  }
  to[0] = a * from[0] + b;
  if (column + 1 < width)
    to[1] = a * from[1] + b;
}
