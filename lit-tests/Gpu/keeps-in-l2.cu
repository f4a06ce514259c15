// Somebody's PTX that has the L2 cache keep what it reads, by a prefetch or by a
// policy, is refused, and right where the check is left out. A policy that lets
// go early is one, too, since a hint may be any; a plain prefetch is none.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s scale.cu
// RUN: cd %t && clang-r3 %cuda -O2 scale.cu -o scale %cudart
// RUN: cd %t && r3 record --device %device --min-share 0 -- ./scale
// RUN: cd %t && %clang %cuda -O1 -S --cuda-device-only scale.cu -o plain.ptx
// RUN: cd %t && before() { sed "s/^.*ld.global[^[]*\(\[%%rd[0-9]*\]\);/$1\n&/" plain.ptx; }; \
// RUN:   before 'prefetch.global.L2::evict_last \1;' > last.ptx; before 'prefetch.global.L2 \1;' > prefetch.ptx; \
// RUN:   before '.reg .b64 p; createpolicy.fractional.L2::evict_first.b64 p;' | sed 's/ld.global\([^;]*\);/ld.global.L2::cache_hint\1, p;/' > hint.ptx
// RUN: cd %t && for f in last prefetch hint; do not cmp -s plain.ptx $f.ptx || exit 1; done
// RUN: cd %t && one() { echo "$@"; r3 try --device %device --batches 0 --ptx "$@" 2>&1 || true; }; \
// RUN:   (one last.ptx; one last.ptx --without cache; one hint.ptx; one prefetch.ptx) > told
// RUN: FileCheck %s --input-file=%t/told
// CHECK-LABEL: last.ptx
// CHECK: scale refused
// CHECK: scale: prefetch.global.L2::evict_last, the like of which the original does not have
// CHECK-LABEL: last.ptx --without cache
// CHECK: scale right
// CHECK-LABEL: hint.ptx
// CHECK: scale refused
// CHECK: scale: ld.global.L2::cache_hint{{.*}}, the like of which
// CHECK-LABEL: prefetch.ptx
// CHECK: scale right
#include <cstdio>
__global__ void scale(const float *X, float *Y, int N) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < N)
    Y[I] = 2 * X[I];
}
int main() {
  const int N = 1001;
  float *X, *Y;
  cudaMalloc(&X, N * 4), cudaMemset(X, 0x3f, N * 4);
  cudaMalloc(&Y, N * 4);
  scale<<<8, 128>>>(X, Y, N);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
