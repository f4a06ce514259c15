// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One unit for all architectures: each has its module and its kernel code.
// RUN: %clang %cuda --cuda-gpu-arch=sm_80 -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s
// RUN: llvm-readelf -SW %t.o | FileCheck %s --check-prefix=SECTION
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 0
#endif
__global__ void kernel(int *p) { *p = __CUDA_ARCH__; }
__global__ void same(int *p) { *p = 1; }
// CHECK: "commands": {
// CHECK-NEXT: "sm_80": [
// CHECK: "sm_90": [
// CHECK-NOT: "-o"
// CHECK: "name": "_Z6kernelPi"
// CHECK: "code": {
// CHECK-NEXT: "sm_80": {
// CHECK-NEXT: "key": "[[KEY:[0-9a-f]*]]"
// CHECK-NOT: "key": "[[KEY]]"
// CHECK: "name": "_Z4samePi"
// CHECK: "sm_80": {
// CHECK-NEXT: "key": "[[SAME:[0-9a-f]*]]"
// CHECK: "sm_90": {
// CHECK-NEXT: "key": "[[SAME]]"
// CHECK: "modules": [
// CHECK: "arch": "sm_80"
// CHECK: "arch": "sm_90"
// SECTION: .r3.unit.{{[0-9a-f]+}} PROGBITS 0000000000000000 {{[0-9a-f]+}} {{[0-9a-f]+}} 00 0 0 1
// SECTION-NOT: .r3.unit
