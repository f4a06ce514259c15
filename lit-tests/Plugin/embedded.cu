// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The embedded copy: unoptimised, with what the kernels reach and what the
// host can see; a CPU device's entry of the profile is an attribute in it.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %prefix/lit-tests/tools/r3-test-profile %t.o _Z6kernelPf %t.profile "device=x86-64 Test" "pipeline=function(sroa)" level=O2
// RUN: %clang %cuda -fpass-plugin=%plugin -include %t.profile/units/embedded.cu.h -O2 -c %s -o %t.o
// RUN: %prefix/lit-tests/tools/r3-test-profile --module %t.o sm_90 > %t.bc
// RUN: llvm-dis %t.bc -o - | FileCheck %s
__device__ float Seen;
__device__ float helper(float x) { return x + 1; }
__device__ float unused(float x) { return x + 2; }
__global__ void kernel(float *p) { *p = helper(*p); }
__global__ void other(float *p) { *p = 0; }
void launch() { kernel<<<1, 1>>>(nullptr); }
// CHECK: source_filename = "embedded.cu"
// CHECK: @Seen = {{.*}}addrspace(1) externally_initialized global float
// CHECK-NOT: unused
// CHECK: define {{.*}}@_Z6helperf
// CHECK: define {{.*}}ptx_kernel void @_Z6kernelPf({{.*}} #[[TUNED:[0-9]+]]
// CHECK: alloca ptr
// CHECK: call {{.*}}@_Z6helperf
// CHECK: define {{.*}}ptx_kernel void @_Z5otherPf({{.*}} #[[OTHER:[0-9]+]]
// CHECK: attributes #[[TUNED]] = {{.*}}"r3-variant"="{\22pipeline\22:\22function(sroa)\22,\22level\22:\22O2\22}"
// CHECK-NOT: r3-variant
