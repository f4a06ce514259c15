// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Unrolled by hand: all of its instructions occur more often, approximate ones
// as well.
//
// RUN: %try weights | FileCheck %s
// CHECK: ok:

__device__ inline float weight(float x, float w) {
  return __nvvm_rsqrt_approx_f(1 + x * x) + w / __builtin_sqrtf(1 + w * w);
}

__global__ void weights(const float *x, const float *w, float *y, int n) {
  const int threads = gridDim.x * blockDim.x;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i + 2 * threads < n; i += 3 * threads) {
    const float a = weight(x[i], w[i]);
    const float b = weight(x[i + threads], w[i + threads]);
    const float c = weight(x[i + 2 * threads], w[i + 2 * threads]);
    y[i] = a;
    y[i + threads] = b;
    y[i + 2 * threads] = c;
  }
  for (; i < n; i += threads)
    y[i] = weight(x[i], w[i]);
}
