// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Undefined values: a variable is filled where its life begins, shared memory
// by all threads of the block before anything else, undef becomes a number.
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-freeze-0,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll -DBYTE=-1 -DFLOAT=0xFFFFFFFFE0000000
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-freeze-1,verify' %t.bc -S -o %t.1.ll
// RUN: FileCheck %s --input-file=%t.1.ll -DBYTE=90 -DFLOAT=0x434B4B4B40000000
// RUN: opt -mcpu=sm_90 -passes='default<O2>' %t.ll -o %t.o2.bc
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.o2.bc -o %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// RUN: not opt -load-pass-plugin=%plugin -passes='r3-freeze-2' %t.bc -disable-output 2>&1 | grep "unknown pass name 'r3-freeze-2'"
extern __shared__ float memory[];
typedef float Pair __attribute__((ext_vector_type(2)));
extern "C" __global__ void step(float *f, bool *b, Pair *p, int n) {
  __shared__ float tile[48];
  for (int i = 0; i < n; ++i) {
    int local[8];
    f[i] = local[i & 7] + tile[i] + memory[i];
  }
  f[0] = *b;
  p[0] = Pair(f[2]);
}
// CHECK: @[[TILE:.*tile.*]] = internal addrspace(3) global [48 x float] undef
// CHECK-LABEL: define {{.*}}void @step(
// CHECK: %[[LOCAL:.*]] = alloca [8 x i32]
// CHECK-DAG: call void @__r3_freeze_fill(ptr {{.*}}@[[TILE]]{{.*}}, i64 192, i8 [[BYTE]])
// CHECK-DAG: %[[SIZE:.*]] = call i64 @__r3_freeze_dynamic_size()
// CHECK-DAG: call void @__r3_freeze_fill(ptr {{.*}}@memory{{.*}}, i64 %[[SIZE]], i8 [[BYTE]])
// CHECK: call void @__r3_freeze_barrier()
// CHECK: call void @llvm.memset{{.*}}(ptr {{.*}}%[[LOCAL]], i8 [[BYTE]], i64 32,
// CHECK: br label
// CHECK: call void @llvm.memset{{.*}}(ptr {{.*}}%[[LOCAL]], i8 [[BYTE]], i64 32,
// CHECK-NOT: lifetime
// CHECK: load i8, ptr %{{[0-9]+}}, align 1{{$}}
// CHECK: insertelement <2 x float> splat (float [[FLOAT]])
