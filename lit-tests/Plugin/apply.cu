// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A profile's pipeline and register limit take over the kernel's body; its
// name, launch bounds, dynamic shared memory and globals stay, and other
// kernels are untouched. Entries of the CPU device touch the embedded copy
// alone.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %prefix/lit-tests/tools/r3-test-profile %t.o _Z5tunedIfEvPT_i %t.profile "pipeline=function(sroa)" maxnreg=40
// RUN: env R3_HANDOVER=%t.tmpdir %clang %cuda -fpass-plugin=%plugin -mllvm -r3-profile-header=%t.profile/units/apply.cu.h -O2 --cuda-device-only -S -emit-llvm %s -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: FileCheck %s --check-prefix=MESSAGE --input-file=%t.tmpdir/messages
// RUN: %clang %cuda -fpass-plugin=%plugin -include %t.profile/units/apply.cu.h -O2 -c %s -o %t2.o
// RUN: rm -r %t.profile
// RUN: %prefix/lit-tests/tools/r3-test-profile %t.o _Z5tunedIfEvPT_i %t.profile "device=x86-64 Test" "pipeline=function(sroa)"
// RUN: %clang %cuda -fpass-plugin=%plugin -include %t.profile/units/apply.cu.h -O2 --cuda-device-only -S -emit-llvm %s -o - | FileCheck %s --check-prefix=PLAIN
static __device__ int Counter;
struct Weights { float First, Second; };
__constant__ Weights TheWeights;
extern __shared__ float Rest[];
template <typename T>
__global__ void __launch_bounds__(128) tuned(T *p, int n) {
  __shared__ T tile[128];
  tile[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 4; ++i)
    p[threadIdx.x] += tile[i] + Rest[i] * TheWeights.Second;
  atomicAdd(&Counter, n);
}
__global__ void other(int *p) { *p = Counter; }
void launch(float *p) { tuned<<<1, 128, 64>>>(p, 1); }
// CHECK: @_ZL7Counter__r3_[[TAG:[0-9a-f]+]] = {{.*}}addrspace(1) global i32 0
// CHECK-NOT: @_ZL7Counter
// CHECK: @Rest = external
// CHECK: define {{.*}}ptx_kernel void @_Z5otherPi(
// The loop is still rolled, as only sroa ran.
// CHECK: define {{.*}}ptx_kernel void @_Z5tunedIfEvPT_i({{.*}} #[[ATTRIBUTES:[0-9]+]] comdat
// CHECK: phi i32 [ 0,
// CHECK: call {{.*}}@_ZL7Counter__r3_[[TAG]]
// CHECK-NOT: r3_tuned
// CHECK: attributes #[[ATTRIBUTES]] = {{.*}}"nvvm.maxnreg"="40"{{.*}}"nvvm.maxntid"="128"
// MESSAGE: note applied apply.cu: _Z5tunedIfEvPT_i: tuned code is in
// PLAIN-NOT: phi i32 [ 0,
// PLAIN-NOT: nvvm.maxnreg
