// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// -fgpu-rdc: the unit is described; kernels whose code is in another unit say
// so. The profile is not applied, by name.
// RUN: %clang %cuda -fpass-plugin=%plugin -fgpu-rdc -O2 -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s
// RUN: %prefix/lit-tests/tools/r3-test-profile %t.o _Z8completePi %t.profile maxnreg=32
// RUN: env R3_HANDOVER=%t.tmpdir %clang %cuda -fpass-plugin=%plugin -fgpu-rdc -O2 -mllvm -r3-profile-header=%t.profile/units/rdc.cu.h -c %s -o %t.o
// RUN: FileCheck %s --check-prefix=MESSAGE --input-file=%t.tmpdir/messages
extern __device__ int elsewhere(int);
extern __device__ float Far[4];
__global__ void complete(int *p) { *p = 1; }
__global__ void calls(int *p) { *p = elsewhere(1); }
__global__ void reads(float *p) { *p = Far[0]; }
void launch() { complete<<<1, 1>>>(nullptr); }
// CHECK: "name": "_Z8completePi"
// CHECK: "reason": ""
// CHECK: "name": "_Z5callsPi"
// CHECK: "reason": "needs-device-link"
// CHECK-NEXT: "detail": "elsewhere(int)"
// CHECK: "name": "_Z5readsPf"
// CHECK: "reason": "needs-device-link"
// CHECK-NEXT: "detail": "Far"
// MESSAGE: warning rdc rdc.cu: -fgpu-rdc: the profile is not applied
