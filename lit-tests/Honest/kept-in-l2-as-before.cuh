// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the original has the L2 cache keep, it keeps here, too.
//
// RUN: %try pick | FileCheck %s
// CHECK: ok:

__global__ void pick(const int *one, const int *two, int *to, int n,
                     int which) {
  const int threads = gridDim.x * blockDim.x;
  if (threadIdx.x == 0)
    keepInL2((Global)two);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
    const int first = one[i], second = two[i];
    to[i] = (which == 1 ? 0 : first) + (which == 0 ? 0 : second);
  }
}
