// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program finds the runtime where the environment asks for it, hands over
// its tables, and its calls go there, function pointers included. Without it
// the program runs as ever; a missing runtime is said once.
// RUN: cc -shared -fPIC -I%source %S/Inputs/fake_runtime.c -o %t.runtime.so
// RUN: for level in 0 1 2 3; do %clang %cuda -fpass-plugin=%plugin -O$level %s -o %t$level %cudart || exit 1; R3_RECORD=1 R3_RUNTIME=%t.runtime.so %t$level > %t.out || exit 1; FileCheck %s --input-file=%t.out || exit 1; done
// RUN: R3_DEVICE=cpu R3_RUNTIME=%t.runtime.so %t2 | FileCheck %s
// RUN: R3_RECORD=0 R3_RUNTIME=%t.runtime.so %t2 | FileCheck %s --check-prefix=PLAIN
// RUN: %t2 | FileCheck %s --check-prefix=PLAIN
// RUN: R3_RECORD=1 R3_RUNTIME=%t.none %t2 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: R3_RECORD=1 R3_QUIET=1 R3_RUNTIME=%t.none %t2 2>&1 | FileCheck %s --check-prefix=PLAIN
#include <cstdio>
#include <memory>
__constant__ float Scale;
__global__ void kernel(int *p) { *p = Scale; }
int main() {
  int *p = nullptr, *q = nullptr;
  std::setbuf(stdout, nullptr);
  cudaMalloc(&p, 12);
  cudaMalloc(&q, 34);
  std::unique_ptr<int, decltype(&cudaFree)> owned(q, &cudaFree);
  kernel<<<dim3(5, 6, 7), dim3(2, 3, 4), 88>>>(p);
  cudaFree(p);
  std::puts("end of main");
}
// CHECK: image version 1, symbols known
// CHECK-NEXT: unit of 32 digits, fatbinary, image
// CHECK-NEXT: kernel _Z6kernelPi
// CHECK-NEXT: global Scale 4
// CHECK-NEXT: malloc 12{{$}}
// CHECK-NEXT: malloc 34{{$}}
// CHECK-NEXT: launch 5x6x7 2x3x4 88{{$}}
// CHECK-NEXT: free{{$}}
// CHECK-NEXT: end of main
// CHECK-NEXT: free{{$}}
// CHECK-NEXT: detach 1 kernels
// PLAIN-NOT: {{image|malloc|R3}}
// PLAIN: end of main
// MISSING: r3: {{.*}}.none: cannot open shared object file: {{.*}}; the program runs without R3
// MISSING-NOT: r3:
// MISSING: end of main
