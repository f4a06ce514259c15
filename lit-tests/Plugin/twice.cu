// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loading the plugin twice, under one name or two, changes nothing.
// RUN: mkdir -p %t/lib && cp %plugin %t/lib/libR3.so
// RUN: cd %t && cp %s a.cu
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c a.cu -o once.o
// RUN: %clang %cuda -fpass-plugin=%plugin -fpass-plugin=%plugin -O2 -c a.cu -o twice.o
// RUN: %clang %cuda -fpass-plugin=%plugin -fpass-plugin=lib/libR3.so -O2 -c a.cu -o two.o
// RUN: for object in once twice two; do llvm-nm $object.o | grep -v ' [tr] ' > $object.nm; llvm-readelf -SW $object.o | grep -c r3.unit >> $object.nm; done
// RUN: diff once.nm twice.nm && diff once.nm two.nm
// RUN: FileCheck %s --input-file=once.nm
__global__ void kernel(int *p) { *p = 1; }
void launch() { kernel<<<1, 1>>>(nullptr); }
// CHECK: W __r3_register_image
// CHECK: {{^}}1
