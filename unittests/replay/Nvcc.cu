// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose names and variables clang and nvcc spell alike, and others.
#include "factor.h"
#if defined(NOT_FOR_NVCC) && defined(__NVCC__)
#error made for clang
#endif

__global__ void plain(float *p) { p[threadIdx.x] *= FACTOR; }

namespace named {
template <typename T, int N> __global__ void times(T *p) {
  p[threadIdx.x] *= N;
}
} // namespace named

static __device__ float kept[4];
__constant__ float table[8];
static __global__ void hidden(float *p, int n) {
  if (threadIdx.x < n)
    p[threadIdx.x] += kept[0] + table[threadIdx.x];
  kept[1] = p[0];
}

namespace {
__device__ float unnamed;
struct Halves {
  float v;
};
__global__ void inside(float *p) {
  p[threadIdx.x] += unnamed;
  unnamed = p[0];
}
} // namespace

template <typename T> __global__ void taking(T t, float *p) { p[0] = t.v; }

__device__ __noinline__ float helper(float x) { return sinf(x) * x; }
__global__ void calling(float *p, double *q) {
  p[0] = helper(p[1]);
  q[0] = sin(q[1]); // with tables
}

int main() {
  float *p = nullptr;
  plain<<<1, 4>>>(p);
  named::times<float, 3><<<1, 4>>>(p);
  hidden<<<1, 4>>>(p, 2);
  inside<<<1, 4>>>(p);
  taking<<<1, 1>>>(Halves{1}, p);
  calling<<<1, 1>>>(p, nullptr);
}
