// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void three(int *p) { *p = 1; }
void launch_three(int *p) { three<<<1, 1>>>(p); }
