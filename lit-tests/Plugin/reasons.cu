// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reasons against a replay, read from the code; what the optimiser resolves is
// none.
// RUN: %clang %cuda -Rremark-backend-plugin -fpass-plugin=%plugin -O2 -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s
#include <cstdio>
__global__ void allocates(int **p) { *p = (int *)malloc(4); }
__global__ void clocks(long long *p) { *p = clock64(); }
__global__ void timer(unsigned *p) {
  asm volatile("mov.u32 %0, %%globaltimer_lo;" : "=r"(*p));
}
__global__ void indirect(void (**f)()) { (*f)(); }
__device__ void direct() {}
template <typename F> __device__ void call(F f) { f(); }
__global__ void resolved() { call(direct); }
__global__ void prints(int n) { printf("%d\n", n); }
__global__ void samples(cudaTextureObject_t t, float *p) {
  *p = tex2D<float>(t, 0.0f, 0.0f);
}
// REMARK: remark: r3: reasons.cu: allocates cannot be replayed: the kernel allocates or frees device heap memory: malloc
// REMARK-NOT: prints
// CHECK: "name": "_Z9allocatesPPi"
// CHECK: "reason": "device-malloc"
// CHECK: "name": "_Z6clocksPx"
// CHECK: "reason": "clock"
// CHECK: "name": "_Z5timerPj"
// CHECK: "reason": "clock"
// CHECK: "name": "_Z8indirectPPFvvE"
// CHECK: "reason": "indirect-call"
// CHECK-NEXT: "detail": "a call through a pointer in indirect(void (**)())"
// CHECK: "name": "_Z8resolvedv"
// CHECK: "reason": ""
// CHECK: "name": "_Z6printsi"
// CHECK: "reason": ""
// CHECK: "name": "_Z7samples
// CHECK: "reason": "texture"
