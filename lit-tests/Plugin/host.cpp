// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code without kernels is instrumented where it uses the CUDA runtime:
// calls, function pointers, constants, per-thread stream names.
// RUN: %clang -I%cudapath/include -fpass-plugin=%plugin -O0 -S -emit-llvm %s -o - | FileCheck %s
// RUN: %clang -I%cudapath/include -fpass-plugin=%plugin -O2 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=TABLE
// RUN: echo 'int f(int x) { return x; }' > %t.cpp
// RUN: %clang -fpass-plugin=%plugin -O2 -S -emit-llvm %t.cpp -o - | FileCheck %s --check-prefix=NONE
// RUN: %clang -I%cudapath/include -DCUDA_API_PER_THREAD_DEFAULT_STREAM -fpass-plugin=%plugin -O0 -S -emit-llvm %s -o - | FileCheck %s --check-prefix=PTDS
#include <cuda_runtime.h>
extern cudaError_t (*const Deleters[2])(void *);
cudaError_t (*const Deleters[2])(void *) = {&cudaFree, cudaFreeHost};
void *get(size_t n, void *s) {
  void *p = nullptr;
  cudaMalloc(&p, n);
  cudaMemcpyAsync(p, s, n, cudaMemcpyDefault, nullptr);
  return p;
}
void clear(cudaPitchedPtr p) { cudaMemset3D(p, 0, cudaExtent()); }
// TABLE: @Deleters = {{.*}}[2 x ptr] [ptr @__r3_shim_cudaFree, ptr @__r3_shim_cudaFreeHost]
// TABLE-DAG: define linkonce_odr hidden {{.*}}@__r3_shim_cudaFree({{.*}} comdat
// TABLE-DAG: define private {{.*}}@__r3_shim_cudaMalloc(
// TABLE-DAG: define internal {{.*}}@__r3_shim_cudaMemset3D(
// CHECK: @__r3_image = linkonce_odr hidden global
// CHECK: @llvm.global_ctors = {{.*}}{ i32 101, ptr @__r3_register_image, ptr @__r3_register_image }
// CHECK-LABEL: define {{.*}}@_Z3getmPv
// CHECK: call {{.*}}@__r3_shim_cudaMalloc(
// CHECK: call {{.*}}@__r3_shim_cudaMemcpyAsync(
// CHECK-NOT: section "llvm_offload_entries"
// CHECK: define internal {{.*}}i32 @__r3_shim_cudaMalloc(ptr noundef %[[P:[a-z0-9]+]], i64 noundef %[[N:[a-z0-9]+]])
// CHECK: %[[ENTRIES:.*]] = load ptr, ptr getelementptr inbounds (i8, ptr @__r3_image, i64 8)
// CHECK-NEXT: %[[HAS:.*]] = icmp ne ptr %[[ENTRIES]], null
// CHECK-NEXT: br i1 %[[HAS]], label %[[ASK:.*]], label %[[PLAIN:[0-9]+]], !prof
// CHECK: load ptr, ptr %
// CHECK: br i1 %{{.*}}, label %{{.*}}, label %[[PLAIN]]
// CHECK: call i32 %{{.*}}(ptr noundef %[[P]], i64 noundef %[[N]], ptr @cudaMalloc)
// CHECK: [[PLAIN]]:
// CHECK-NEXT: call i32 @cudaMalloc(ptr noundef %[[P]], i64 noundef %[[N]])
// CHECK: @__r3_shim_cudaMemset3D(ptr noundef byval(%struct.cudaPitchedPtr)
// CHECK: call i32 %{{.*}}(ptr noundef byval(%struct.cudaPitchedPtr){{.*}}, ptr @cudaMemset3D)
// NONE-NOT: r3
// PTDS-LABEL: define {{.*}}@_Z3getmPv
// PTDS: call {{.*}}@__r3_shim_cudaMalloc(
// PTDS: call {{.*}}@__r3_shim_cudaMemcpyAsync_ptsz(
// PTDS: @__r3_shim_cudaMemset3D_ptds(
