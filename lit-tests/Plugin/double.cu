// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluation in double: what is computed in registers and in local arrays is
// double, also across the program's own functions; memory, shared memory, bits
// and functions of libdevice without a double beside them see floats.
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-double,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: opt -mcpu=sm_90 -passes='default<O2>' %t.ll -o %t.o2.bc
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.o2.bc -o %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
__device__ float square(float x) { return x * x; }
extern "C" __global__ void step(float *f, int *bits, int n) {
  __shared__ float tile[32];
  float bins[4] = {0, 0, 0, 0}, sum = 0;
  for (int i = 0; i < n; ++i) {
    bins[i & 3] += square(f[i]);
    sum += sum < 2.5f ? 0.1f : -f[i];
  }
  f[0] = bins[n & 3] + (sum + n);
  bits[0] = __float_as_int(sum);
  tile[threadIdx.x] = sum;
  f[1] = __expf(tile[0] + sum);
  double wide = sum;
  *(double *)&f[2] = wide;
}
// CHECK-LABEL: define {{.*}}void @step(
// CHECK: %[[BINS:.*]] = alloca [4 x double], align 8
// CHECK: call void @llvm.memset{{.*}}(ptr {{.*}}%[[BINS]], i8 0, i64 32,
// CHECK: %[[SUM:.*]] = phi double
// CHECK: %[[FLOAT:[0-9]+]] = load float
// CHECK-NEXT: %[[WIDE:[0-9]+]] = fpext float %[[FLOAT]] to double
// CHECK-NEXT: fmul contract double %[[WIDE]], %[[WIDE]]
// CHECK: %[[BIN:[0-9]+]] = load double, ptr %{{.*}}, align 8
// CHECK: fadd contract double %[[BIN]],
// CHECK: store double
// CHECK: fcmp contract olt double %{{.*}}, 2.5{{.*}}
// CHECK: phi contract double [ 0x3FB99999A0000000, %{{.*}} ], [ %{{.*}}, %{{.*}} ]
// CHECK: sitofp i32 %{{.*}} to double
// CHECK: call {{.*}}i32 @__nv_float_as_int(float
// CHECK: %[[TILE:[0-9]+]] = getelementptr {{.*}}tile
// CHECK-NEXT: store float %{{[0-9]+}}, ptr %[[TILE]]
// CHECK: call {{.*}}float @__nv_fast_expf(float
// CHECK: store double %[[SUM]],
