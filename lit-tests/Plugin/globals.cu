// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Module globals: which a kernel uses, under which name the runtime finds
// them, and that device code agrees with the embedded copy.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o | FileCheck %s
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 --cuda-device-only -S %s -o - | FileCheck %s --check-prefix=PTX
__constant__ float Scale;
__device__ double Table[8];
static __device__ int Shared;      // written by one kernel, read by another
static __device__ int Fixed = 42;  // written by nobody
static __device__ int Visible;     // the host copies to it
__global__ void writer() { Shared = 1; }
__global__ void reader(float *out) {
  extern __shared__ float rest[];
  rest[threadIdx.x] = Scale + Fixed + Visible;
  if (Shared) out[0] = rest[0] + Table[1];
}
int main() {
  int one = 1;
  cudaMemcpyToSymbol(Visible, &one, sizeof(one));
  writer<<<1, 1>>>();
  reader<<<1, 1, 128>>>(nullptr);
}
// CHECK: "name": "_Z6writerv"
// CHECK: "globals": [
// CHECK-NEXT: "_ZL6Shared__r3_[[TAG:[0-9a-f]+]]"
// CHECK-NEXT: ]
// CHECK: "name": "_Z6readerPf"
// CHECK: "globals": [
// CHECK-NEXT: "Scale"
// CHECK-NOT: Fixed
// CHECK: ]
// CHECK: "name": "Scale"
// CHECK: "constant": true,
// CHECK-NEXT: "hostVisible": true
// CHECK-NEXT: "element": "f32"
// CHECK: "name": "Table"
// CHECK-NEXT: "display": "Table"
// CHECK-NEXT: "size": 64
// CHECK-NEXT: "constant": false
// CHECK-NEXT: "hostVisible": true
// CHECK-NEXT: "element": "f64"
// CHECK: "name": "_ZL6Shared__r3_[[TAG]]"
// CHECK-NEXT: "display": "Shared"
// CHECK: "hostVisible": false
// PTX: .visible .global {{.*}} _ZL6Shared__r3_
// PTX-NOT: _ZL5Fixed
