// What somebody's PTX does in global memory that shows in no result: a read one
// past an allocation's end, and one of memory that nothing has written. Each is
// found by one tool alone, and what moves no address is not run there.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s scale.cu
// RUN: cd %t && clang-r3 %cuda -O2 scale.cu -o scale %cudart
// RUN: cd %t && r3 record --device %device --min-share 0 -- ./scale
// RUN: cd %t && echo 'import json, sys' > told.py
// RUN: cd %t && echo 'k = json.load(sys.stdin)["kernels"][0]' >> told.py
// RUN: cd %t && echo 'c = [c for c in k["evidence"]["checks"] if c["check"] == "memcheck"]' >> told.py
// RUN: cd %t && echo 'print(k["outcome"] + ":", k["message"], c)' >> told.py
// RUN: cd %t && for Kind in HONEST PAST UNWRITTEN FOLLOW; do \
// RUN:   %clang %cuda -O1 -S --cuda-device-only -DTRIED -D$Kind scale.cu -o $Kind.ptx; done
// RUN: cd %t && one() { Kind=$1; shift; echo "$Kind $*"; (r3 --device %device try --ptx $Kind.ptx --json --batches 0 "$@" || true) | %python told.py; }; \
// RUN:   (one HONEST; one PAST; one PAST --without memcheck; one UNWRITTEN; \
// RUN:    one UNWRITTEN --without memcheck; one FOLLOW) | FileCheck %s
// CHECK: HONEST
// CHECK-NEXT: ok: {{.*}}memcheck, initcheck on 1 of 1 recordings, {{[1-9][0-9]*}} bytes unwritten
// CHECK: PAST
// CHECK-NEXT: out-of-bounds: memcheck finds {{[1-9][0-9]*}} error{{s?}}: Invalid __global__ read of size 4 bytes, at scale
// CHECK-SAME: by thread (
// CHECK: PAST --without memcheck
// CHECK-NEXT: ok:
// CHECK: UNWRITTEN
// CHECK-NEXT: wrong: initcheck finds {{[1-9][0-9]*}} error{{s?}}: Uninitialized __global__ memory read of size 4 bytes, at scale
// CHECK-SAME: by thread (
// CHECK: UNWRITTEN --without memcheck
// CHECK-NEXT: ok:
// CHECK: FOLLOW
// CHECK-NEXT: ok: {{.*}}memory may hold addresses
#include <cstdio>
#define INDEX                                                                  \
  const int I = blockIdx.x * blockDim.x + threadIdx.x;                         \
  if (I >= N)                                                                  \
    return;
#if !defined(TRIED) || defined(FOLLOW)
__global__ void follow(float *const *P, int N) {
  INDEX
#ifdef FOLLOW
  P[1][I] = fmaf(1.5f, P[0][I], 0.5f * P[0][I]);
#else
  P[1][I] = 2 * P[0][I];
#endif
}
#endif
#ifndef FOLLOW
__global__ void scale(const float *X, float *Y, int N) {
  INDEX
#ifdef PAST
  if (I == N - 1)
    (void)*static_cast<const volatile float *>(X + N);
#elif defined(UNWRITTEN)
  (void)*static_cast<volatile float *>(Y + I);
#endif
#ifdef TRIED
  Y[I] = fmaf(1.5f, X[I], 0.5f * X[I]);
#else
  Y[I] = 2 * X[I];
#endif
}
#endif
#ifndef TRIED
int main() {
  const int N = 1001;
  float Host[N], *Rows[2], **P;
  for (int I = 0; I < N; ++I)
    Host[I] = I + 0.25f;
  cudaMalloc(&Rows[0], sizeof(Host));
  cudaMalloc(&Rows[1], sizeof(Host));
  cudaMalloc(&P, sizeof(Rows));
  cudaMemcpy(Rows[0], Host, sizeof(Host), cudaMemcpyHostToDevice);
  cudaMemset(Rows[1], 0, sizeof(Host));
  cudaMemcpy(P, Rows, sizeof(Rows), cudaMemcpyHostToDevice);
  scale<<<8, 128>>>(Rows[0], Rows[1], N);
  cudaMemset(Rows[1], 0, sizeof(Host));
  follow<<<8, 128>>>(P, N);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
#endif
