// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of every kind are described by names for people, by the function
// that they belong to, by their fields and by what they write.
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 -c %s -o %t.o
// RUN: %python %S/Inputs/unit.py %t.o > %t.json
// RUN: FileCheck %s --input-file=%t.json
#include <cuda_fp16.h>
struct View { float *data; int n; double scale[2]; };
template <typename T> __global__ void copyTo(T *out, const T *in) {
  out[threadIdx.x] = in[threadIdx.x];
}
static __global__ void hidden(double *out) { out[0] = 1; }
namespace {
__global__ void nameless(View v) { v.data[v.n] = v.scale[1]; }
}
extern "C" __global__ void plain(int *out, short s) { atomicAdd(out, s); }
template <typename F> __global__ void forall(int n, F f) {
  if (threadIdx.x < n) f(threadIdx.x);
}
void run(float *p) { forall<<<1, 32>>>(32, [=] __device__(int i) { p[i] = i; }); }
int main() {
  copyTo<<<1, 1>>>((__half *)nullptr, (const __half *)nullptr);
  hidden<<<1, 1>>>(nullptr);
  nameless<<<1, 1>>>(View());
  plain<<<1, 1>>>(nullptr, 1);
  run(nullptr);
}
// CHECK: "source": "kernels.cu"
// CHECK: "level": "O2"
// CHECK: "name": "_ZL6hiddenPd"
// CHECK: "display": "hidden"
// CHECK: "0": "f64"
// CHECK: "name": "_ZN12_GLOBAL__N_18namelessE4View"
// CHECK: "display": "nameless"
// CHECK: "home": "kernels.cu:nameless"
// CHECK: "argumentBytes": 32
// CHECK: "type": "pointer",
// CHECK-NEXT: "name": "arg0.0"
// CHECK: "offset": 8
// CHECK: "name": "arg0.1"
// CHECK: "offset": 16
// CHECK: "type": "f64",
// CHECK-NEXT: "name": "arg0.2[0]"
// CHECK: "0": "f32"
// CHECK: "name": "plain"
// CHECK: "type": "i16"
// CHECK: "0": "i32"
// CHECK: "display": "forall<run::lambda>"
// CHECK: "home": "kernels.cu:run"
// CHECK: "offset": 8
// CHECK: "1": "f32"
// CHECK: "name": "_Z6copyToI6__halfEvPT_PKS1_"
// CHECK: "display": "copyTo<__half>"
// CHECK: "home": "kernels.cu:copyTo"
// CHECK: "argumentBytes": 16
// CHECK: "written": {
// CHECK-NEXT: "0": "i16"
