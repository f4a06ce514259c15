// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The counting build, behind the pipeline: a thread adds what it has counted
// where it returns; a function that is called counts its own and is no longer
// taken for one without effects. What comes out is code that ptxas takes.
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-default<O2>' %t.bc -S | FileCheck %s --check-prefix=PLAIN
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-default<O2>,r3-count,verify,default<O2>' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.ll -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
__device__ __attribute__((noinline)) double cube(double x) { return x * x * x; }
extern "C" __global__ void fill(float *f, double *d, int n) {
  if (threadIdx.x < n)
    f[threadIdx.x] = f[threadIdx.x] * 3 + 1;
  else
    d[threadIdx.x] = cube(d[threadIdx.x]);
}
extern "C" __global__ void integers(int *i) { i[threadIdx.x] *= 3; }
// PLAIN: define {{.*}}double @{{.*}}cube{{.*}} #[[PURE:[0-9]+]]
// PLAIN: attributes #[[PURE]] = {{.*}}memory(none)
// CHECK: @__r3_count_state = {{.*}}addrspace(1) externally_initialized global [3 x i64] zeroinitializer
// CHECK: define {{.*}}double @{{.*}}cube{{.*}} #[[COUNTS:[0-9]+]]
// CHECK: atomicrmw add ptr addrspace(1) {{.*}}__r3_count_state{{.*}}, i64 8), i64 2 monotonic
// CHECK-LABEL: define {{.*}}void @fill(
// CHECK: %[[COUNT:.*]] = phi i64 [ 2, {{.*}} ], [ 0, {{.*}} ]
// CHECK: atomicrmw add ptr addrspace(1) @__r3_count_state, i64 %[[COUNT]] monotonic
// CHECK-LABEL: define {{.*}}void @integers(
// CHECK: atomicrmw {{add|or}} ptr addrspace(1) @__r3_count_state, i64 0 monotonic
// CHECK: attributes #[[COUNTS]] = {{.*}}memory(readwrite
// PTX: atom.global.add.u64 {{.*}}[__r3_count_state+8], 2;
