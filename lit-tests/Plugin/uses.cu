// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The traced build says of each access how it uses what it reads (bits 4 and 5:
// 0 something else, 1 float, 2 double, 3 a copy) and which alignment it relies
// on (its logarithm, from bit 8 on).
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='function(sroa),r3-trace,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// What comes out of a function is followed to its callers.
// CHECK-LABEL: define {{.*}}float @_Z4readPKfi(
// CHECK: i64 4, i32 513
__device__ float read(const float *p, int i) { return p[i]; }
__device__ int bits(float x) { return __float_as_int(x); }

// CHECK-LABEL: define {{.*}}void @numbers(
extern "C" __global__ void numbers(const float *a, const double *b, float *c) {
  // Floats: 1 | 1 << 4 | 2 << 8.
  // CHECK: i64 4, i32 529
  // CHECK: i64 4, i32 529
  // CHECK: i64 8, i32 801
  // CHECK: i64 4, i32 514
  c[0] = a[0] > 0.5f ? -a[1] : expf(float(b[0]));
  // Below: a function of CUDA's header.
  atomicAdd(c + 1, 1.0f);
}

// CHECK-LABEL: define {{.*}}void @others(
extern "C" __global__ void others(const float *a, const double *b, int *c) {
  // An index, a rounded one, bits, an integer's bits in a call, a mark.
  // CHECK: i64 4, i32 513
  // CHECK: i64 4, i32 514
  c[0] = a[0];
  // CHECK: i64 4, i32 513
  // CHECK: i64 4, i32 514
  c[1] = floorf(a[1]);
  // CHECK: i64 4, i32 513
  // CHECK: i64 4, i32 514
  c[2] = bits(a[2]);
  // CHECK: i64 8, i32 769
  // CHECK: i64 4, i32 514
  c[3] = __double2int_rn(b[0]);
  // CHECK: i64 4, i32 513
  // CHECK: i64 4, i32 514
  c[4] = a[3] == -1.0f;
  // Zero is kept, so is order.
  // CHECK: i64 4, i32 529
  // CHECK: i64 4, i32 514
  c[5] = a[4] == 0.0f;
  // What is computed from numbers may be an index.
  // CHECK: i64 8, i32 801
  // CHECK: i64 4, i32 514
  c[6] = b[1] * 10;
  // CHECK: i64 4, i32 514
  c[7] = read(a, 5);
}

struct alignas(16) Four { float x, y, z, w; };
// CHECK-LABEL: define {{.*}}void @copied(
extern "C" __global__ void copied(const Four *a, float *b) {
  __shared__ Four tile[32];
  // CHECK: i64 16, i32 1073
  tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  // CHECK: i64 4, i32 529
  // CHECK-NOT: i32 529
  b[threadIdx.x] += tile[0].x;
}
// CHECK-LABEL: define {{.*}}AtomicAdd
// CHECK: i64 4, i32 531
