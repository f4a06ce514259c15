// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traced build: every access that may be one to global or shared memory is a
// check, a branch and the access; constants and variables are left alone, but for
// those in constant memory, which the program fills. What comes out is code that
// ptxas takes.
// RUN: %clang %cuda --cuda-device-only -O2 -gline-tables-only -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='function(sroa),r3-trace,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: opt -mcpu=sm_90 -passes='default<O2>' %t.ll -o %t.o2.bc
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.o2.bc -o %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// A parameter is a local variable, and not memory of some other kind.
// RUN: not grep cvta.param %t.ptx
__device__ const float table[4] = {1, 2, 3, 4};
__constant__ float weights[4];
__device__ unsigned counter;
struct View {
  float *data; int n;
  __device__ float *at(int i) const { return data + i; }
};
extern "C" __global__ void scale(View v, int which) {
  __shared__ float tile[32];
  extern __shared__ float more[];
  tile[threadIdx.x] = v.data[threadIdx.x] * table[which & 3];
  __syncthreads();
  *v.at(v.n) = tile[31 - threadIdx.x] + more[0] + weights[which & 3];
  atomicAdd(&counter, 1u);
}
extern "C" __global__ void follow(float **to) { **to = 1; }
// 128 bytes of static shared memory, then the dynamic one.
// CHECK-DAG: @__r3_trace_state = {{.*}}addrspace(1) externally_initialized global %{{.*}} { {{.*}}, i64 128, i32 0
// CHECK-DAG: @__r3_trace_constant_count = internal addrspace(1) constant i64 2
// CHECK-DAG: @counter = {{.*}}addrspace(1)
// CHECK-LABEL: define {{.*}}void @scale(
// CHECK: %[[MAY:[0-9]+]] = call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 529, i32 0)
// CHECK-NEXT: br i1 %[[MAY]], label %[[DO:[0-9]+]], label %[[GO:[0-9]+]]
// CHECK: [[DO]]:
// CHECK-NEXT: %[[VALUE:[0-9]+]] = load float
// CHECK: [[GO]]:
// CHECK-NEXT: phi float [ %[[VALUE]], {{.*}} ], [ 0.0
// CHECK-NOT: @__r3_trace_access
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 518, i32 1)
// CHECK: store float
// CHECK-NOT: @__r3_trace_access
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 533, i32 2)
// CHECK: load float
// CHECK-NOT: @__r3_trace_access
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}more to ptr), i64 4, i32 533, i32 3)
// CHECK: load float
// CHECK-NOT: @__r3_trace_access
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 537, i32 4)
// CHECK: load float
// CHECK-NOT: @__r3_trace_access
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 514, i32 5)
// CHECK: store float
// CHECK-NOT: @__r3_trace_access
// CHECK: define {{.*}}View2at
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 8, i32 769, i32 6)
// What one access loads is where the next one goes.
// CHECK: define {{.*}}void @follow(
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 8, i32 {{[0-9]+}}, i32 {{[0-9]+}})
// CHECK: %[[TO:[0-9]+]] = phi ptr
// CHECK-NEXT: call zeroext i1 @__r3_trace_access(ptr %[[TO]], i64 4,
// CHECK: define {{.*}}uAtomicAdd
// CHECK: call zeroext i1 @__r3_trace_access(ptr {{.*}}, i64 4, i32 515, i32 9)
