// What somebody's PTX does in global memory that shows in no result: a read one
// past an allocation's end, and one of memory that nothing has written. Each is
// found by one tool alone, and what moves no address is not run there.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s scale.cu
// RUN: cd %t && clang-r3 %cuda -O2 scale.cu -o scale %cudart
// RUN: cd %t && r3 record --device %device --min-share 0 -- ./scale
// RUN: cd %t && echo 'import json, sys; k = json.load(sys.stdin)["kernels"][0]' > told.py
// RUN: cd %t && echo 'print(k["outcome"] + ":", k["message"], [c for c in k["evidence"]["checks"] if c["check"] == "memcheck"])' >> told.py
// RUN: cd %t && one() { %clang %cuda -O1 -S --cuda-device-only -DTRIED -D$1 scale.cu -o $1.ptx && printf "%%s: " "$*" && \
// RUN:     (Kind=$1; shift; r3 --device %device try --ptx $Kind.ptx --json --batches 0 "$@" || true) | %python told.py; }; \
// RUN:   (one HONEST && one PAST && one PAST --without memcheck && one UNWRITTEN && \
// RUN:    one UNWRITTEN --without memcheck && one FOLLOW) | FileCheck %s
// CHECK: HONEST: ok: {{.*}}memcheck, initcheck on 1 of 1 recordings, 4004 bytes unwritten
// CHECK-NEXT: PAST: out-of-bounds: memcheck finds {{[0-9]+}} error{{s?}}: Invalid __global__ read of size 4 bytes, at scale{{.*}}, by thread (
// CHECK-NEXT: PAST --without memcheck: ok:
// CHECK-NEXT: UNWRITTEN: wrong: initcheck finds {{[0-9]+}} error{{s?}}: Uninitialized __global__ memory read of size 4 bytes, at scale{{.*}}, by thread (
// CHECK-NEXT: UNWRITTEN --without memcheck: ok:
// CHECK-NEXT: FOLLOW: ok: {{.*}}memory may hold addresses
#include <cstdio>
#ifdef TRIED
#define TWICE(X) fmaf(1.5f, X, 0.5f * (X))
#else
#define TWICE(X) (2 * (X))
#endif
#if !defined(TRIED) || defined(FOLLOW)
__global__ void follow(float *const *P, int N) {
  if (const int I = blockIdx.x * blockDim.x + threadIdx.x; I < N)
    P[0][I] = TWICE(P[1][I]);
}
#endif
#ifndef FOLLOW
__global__ void scale(const float *X, float *Y, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef PAST
  if (I == N)
    (void)*static_cast<const volatile float *>(X + I);
#elif defined(UNWRITTEN)
  if (I < N)
    (void)*static_cast<volatile float *>(Y + I);
#endif
  if (I < N)
    Y[I] = TWICE(X[I]);
}
#endif
#ifndef TRIED
int main() {
  const int N = 1001;
  float *Rows[2], **P;
  for (float *&Row : Rows)
    cudaMalloc(&Row, N * 4), cudaMemset(Row, 0x3f, N * 4);
  cudaMalloc(&P, sizeof(Rows));
  cudaMemcpy(P, Rows, sizeof(Rows), cudaMemcpyHostToDevice);
  scale<<<8, 128>>>(Rows[0], Rows[1], N);
  follow<<<8, 128>>>(P, N);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
#endif
