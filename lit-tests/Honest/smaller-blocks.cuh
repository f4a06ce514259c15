// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block for each half of one, which together write all; each number is read
// once.
//
// RUN: %try limit --launch 'block.x=block.x/2' --launch 'grid.x=grid.x*2' | FileCheck %s
// CHECK: ok:

__global__ void limit(int *x, int *above, int n, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  const int own = x[i];
  const bool cut = own > most;
  above[i] = cut;
  x[i] = cut ? most : own;
}
