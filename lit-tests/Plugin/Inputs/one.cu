// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void one(int *p) { *p = 1; }
void launch_one(int *p) { one<<<1, 1>>>(p); }
