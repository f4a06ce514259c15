// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void two(int *p) { *p = 1; }
void launch_two(int *p) { two<<<1, 1>>>(p); }
