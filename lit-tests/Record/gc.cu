// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// r3 store gc, called while a program records into the store: nothing goes;
// afterwards the recording is whole.
// REQUIRES: plugin
// RUN: mkdir %t && cd %t && clang-r3 %cuda -O2 %s -o program %cudart
// RUN: r3 --device %device record --min-share 0 -- ./program 2> err
// RUN: FileCheck %s < err
// CHECK: the store is in use: a program records into it
// RUN: mkdir $R3_STORE/tmp/left && r3 store gc > out && grep -E 'removed [1-9]' out
// RUN: r3 --device %device replay | grep fill
#include <cstdlib>

__global__ void fill(int *p) { p[threadIdx.x] = int(threadIdx.x); }

int main() {
  int *p;
  cudaMalloc(&p, 128);
  fill<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  return std::system("r3 store gc") == 0; // it must not
}
