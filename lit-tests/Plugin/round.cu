// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random rounding: operations become calls with seed and place, also element
// by element in vectors; libdevice is called as before and its result moves;
// integers, half types and explicit directed rounding are left alone.
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='function(sroa),r3-round,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: opt -mcpu=sm_90 -passes='default<O2>' %t.ll -o %t.o2.bc
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.o2.bc -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// RUN: not grep -E '(mul|div|fma|cvt)[.]r[mp][.]' %t.ptx
typedef double Pair __attribute__((ext_vector_type(2)));
extern "C" __global__ void step(float *f, double *d, Pair *p, _Float16 *h,
                                int n) {
  f[1] = f[0] * 3 + f[2];
  f[3] = sinf(f[4]);
  f[5] = floorf(f[6]);
  f[7] = __fmaf_rn(f[8], f[9], f[10]);
  f[11] = __fadd_rd(f[8], f[9]);
  d[0] = d[1] / d[2];
  f[12] = d[3];
  f[13] = n;
  p[0] = p[1] - p[2];
  h[0] = h[1] + h[2];
}
// CHECK: @__r3_round_seed = {{.*}}addrspace(1) externally_initialized global i64
// CHECK-LABEL: define {{.*}}void @step(
// CHECK-NEXT: %[[SEED:.*]] = load i64, {{.*}}@__r3_round_seed{{.*}}!invariant.load
// CHECK: %[[KEY:[0-9]+]] = add i64 %[[SEED]], -7046029254386353131
// CHECK-NEXT: call float @__r3_round_mul_f(float %{{.*}}, float 3.0{{.*}}, i64 %[[KEY]])
// CHECK: call float @__r3_round_add_f(
// CHECK: %[[SINE:[0-9]+]] = call {{.*}}float @[[SINF:.*sinf.*]](
// CHECK: call {{.*}}float @{{.*}}floorf
// CHECK-NOT: @__r3_round
// CHECK: call {{.*}}@{{.*}}__fmaf_rn
// CHECK-NOT: @__r3_round
// CHECK: call {{.*}}@{{.*}}__fadd_rd
// CHECK: call double @__r3_round_div_d(
// CHECK: call float @__r3_round_narrow_f(double
// CHECK: call float @__r3_round_i32_f(i32
// CHECK: extractelement
// CHECK: call double @__r3_round_sub_d(
// CHECK: call double @__r3_round_sub_d(
// CHECK-NEXT: insertelement
// CHECK-NOT: @__r3_round
// CHECK: fadd {{.*}}half
// CHECK: define {{.*}}float @[[SINF]](
// CHECK: %[[EXACT:.*]] = call {{.*}}float @__nv_sinf(
// CHECK: call float @__r3_round_moved_f(float %[[EXACT]], i64
// CHECK: define internal {{.*}}float @__nv_sinf(
// CHECK-NOT: __r3_round
// CHECK: ret float
// PTX: .func {{.*}}__r3_round_mul_f(
// PTX: mul.rn.f32
// PTX: fma.rn.f32
