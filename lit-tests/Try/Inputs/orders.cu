// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two kernels over n numbers: one whose result is the same in every order of
// its blocks, and one that hands out places as blocks come.
#include <cstdio>

__global__ void halve(const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = from[i] * 0.5f;
}

__global__ void compact(const float *from, float *to, int *used, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && from[i] > 10)
    to[atomicAdd(used, 1)] = from[i];
}

int main() {
  constexpr int n = 1000;
  float host[n], *from, *to;
  for (int i = 0; i < n; ++i)
    host[i] = i;
  int *used;
  cudaMalloc(&from, sizeof(host));
  cudaMalloc(&to, sizeof(host));
  cudaMalloc(&used, sizeof(int));
  cudaMemcpy(from, host, sizeof(host), cudaMemcpyHostToDevice);
  cudaMemset(used, 0, sizeof(int));
  halve<<<(n + 63) / 64, 64>>>(from, to, n);
  halve<<<(n - 1 + 63) / 64, 64>>>(from + 1, to, n - 1);
  compact<<<(n + 63) / 64, 64>>>(from, to, used, n);
  return cudaDeviceSynchronize();
}
