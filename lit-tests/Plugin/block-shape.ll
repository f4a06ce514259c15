; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
; The pass r3-remap: a kernel in blocks of another shape computes the indices
; that it would have had.
;
; REQUIRES: plugin
; RUN: opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=4>,verify' %s -S | FileCheck %s --check-prefix=SPLIT
; RUN: opt -load-pass-plugin=%plugin -passes='r3-remap<merge-x=2>,verify' %s -S | FileCheck %s --check-prefix=MERGE
; RUN: sed 's/;BAR//' %s > %t.ll
; RUN: not opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=4>' %t.ll -S -o /dev/null 2>&1 | FileCheck %s --check-prefix=BARRIER
; RUN: sed 's/;LANE//' %s > %t.ll
; RUN: not opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=4>' %t.ll -S -o /dev/null 2>&1 | FileCheck %s --check-prefix=LANE
; RUN: sed 's/;SHARED//' %s > %t.ll
; RUN: not opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=4>' %t.ll -S -o /dev/null 2>&1 | FileCheck %s --check-prefix=SHARED
; RUN: sed 's/;ASM//' %s > %t.ll
; RUN: not opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=4>' %t.ll -S -o /dev/null 2>&1 | FileCheck %s --check-prefix=ASM
; RUN: not opt -load-pass-plugin=%plugin -passes='r3-remap<split-x=1>' %s -S -o /dev/null
;
; SPLIT: define ptx_kernel void @k(ptr %out) {
; SPLIT-NEXT: [[BLOCK:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
; SPLIT-NEXT: [[PART:%.*]] = urem i32 [[BLOCK]], 4
; SPLIT-NEXT: [[SIZE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; SPLIT-NEXT: [[BEFORE:%.*]] = mul i32 [[PART]], [[SIZE]]
; SPLIT-NEXT: [[THREAD:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; SPLIT-NEXT: add i32 [[BEFORE]], [[THREAD]]
; SPLIT: udiv i32 %{{.*}}, 4
; SPLIT: mul i32 %{{.*}}, 4
; The other axes are as they were.
; SPLIT: %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
; MERGE: [[THREAD:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
; MERGE-NEXT: [[SIZE:%.*]] = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
; MERGE-NEXT: [[ONE:%.*]] = udiv i32 [[SIZE]], 2
; MERGE-NEXT: urem i32 [[THREAD]], [[ONE]]
; BARRIER: the kernel calls llvm.nvvm.barrier.cta.sync.aligned.all, which would depend on the shape of its blocks
; LANE: the kernel reads llvm.nvvm.read.ptx.sreg.laneid, which would depend on the shape of its blocks
; SHARED: the kernel has shared memory (tile): its blocks cannot have another shape
; ASM: the kernel has inline assembly that may depend on the shape of its blocks
target triple = "nvptx64-nvidia-cuda"

@tile = internal addrspace(3) global [4 x i32] poison

define ptx_kernel void @k(ptr %out) "nvvm.maxntid"="256" {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %b = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %y = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  ;BAR call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  ;LANE %lane = call i32 @llvm.nvvm.read.ptx.sreg.laneid()
  ;SHARED store i32 %t, ptr addrspace(3) @tile
  ;ASM %l = call i32 asm "mov.u32 $0, %laneid;", "=r"()
  %p = mul i32 %b, %n
  %i = add i32 %p, %t
  %g = getelementptr i32, ptr %out, i32 %i
  store i32 %y, ptr %g
  ret void
}

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.y()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.laneid()
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)
