// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Remapped indices: reads of a block's and a thread's own index become calls,
// sizes, lanes and warps stay; a kernel that is told its index in another way
// is refused.
// RUN: %clang %cuda --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.bc
// RUN: opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes='r3-permute,verify' %t.bc -S -o %t.ll
// RUN: FileCheck %s --input-file=%t.ll
// RUN: opt -mcpu=sm_90 -passes='default<O2>' %t.ll -o %t.o2.bc
// RUN: llc -mcpu=sm_90 -mattr=+ptx80 %t.o2.bc -o %t.ptx
// RUN: ptxas -arch=sm_90 %t.ptx -o %t.cubin
// RUN: %clang %cuda -DASSEMBLY --cuda-device-only -O2 -Xclang -disable-llvm-passes -emit-llvm -c %s -o %t.asm.bc
// RUN: not opt -load-pass-plugin=%plugin -mcpu=sm_90 -passes=r3-permute %t.asm.bc -S -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASM
extern "C" __global__ void step(int *out) {
  out[blockIdx.y * blockDim.x + threadIdx.z] = threadIdx.x % warpSize;
#ifdef ASSEMBLY
  asm("mov.u32 %0, %%ctaid.x;" : "=r"(out[0]));
#endif
}
// CHECK: @__r3_remap_seed = {{.*}}addrspace(1) externally_initialized global i64
// CHECK-LABEL: define {{.*}}void @step(
// CHECK-NOT: define {{.*}}__r3_remap_ctaid_x
// CHECK-NOT: define {{.*}}__r3_remap_tid_y
// CHECK-DAG: call {{.*}}i32 @__r3_remap_ctaid_y()
// CHECK-DAG: call {{.*}}i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
// CHECK-DAG: call {{.*}}i32 @__r3_remap_tid_z()
// CHECK-DAG: call {{.*}}i32 @__r3_remap_tid_x()
// ASM: error: the kernel reads ctaid in inline assembly
