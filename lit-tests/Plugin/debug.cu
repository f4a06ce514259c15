// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -g kernels have a line and reasons a place in the source; where clang
// keeps variables (-O0), fields have their names.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -g -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s --check-prefix=LINES
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -fno-discard-value-names -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s --check-prefix=NAMES
// RUN: %clang %cuda -fpass-plugin=%plugin -O0 -g -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s
struct Base { float *data; };
struct View : Base { int size; struct { double x, y; } origin; };
__global__ void kernel(int count, View view, long long *ticks) {
  view.data[count] = view.origin.y;
  *ticks = clock64();
}
void launch() { kernel<<<1, 1>>>(1, View(), nullptr); }
// LINES: "line": 12
// LINES: "1": "f32"
// LINES-NEXT: "5": "i64"
// LINES: "detail": "{{.*}}debug.cu:14)"
// NAMES: "name": "count"
// NAMES: "name": "view.0.0"
// CHECK: "name": "_Z6kerneli4ViewPx"
// CHECK: "line": 12
// CHECK: "argumentBytes": 48
// CHECK: "parameters": [
// CHECK-NEXT: [
// CHECK-NEXT: 0,
// CHECK-NEXT: 4
// CHECK: 8,
// CHECK-NEXT: 32
// CHECK: 40,
// CHECK-NEXT: 8
// CHECK: "name": "count"
// CHECK: "offset": 8
// CHECK: "name": "view.data"
// CHECK: "offset": 16
// CHECK: "name": "view.size"
// CHECK: "offset": 24
// CHECK: "name": "view.origin.x"
// CHECK: "offset": 32
// CHECK: "name": "view.origin.y"
// CHECK: "name": "ticks"
// CHECK: "1": "f32"
// CHECK-NEXT: "5": "i64"
// CHECK: "reason": "clock"
// CHECK-NEXT: "detail": "{{.*}}debug.cu:14)"
