// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cstdio>
#include <cuda_fp16.h>

__global__ void decay(const float *x, float *y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = expf(-x[i]) / sqrtf(1 + x[i] * x[i]);
}

int main() {
  constexpr int N = 1 << 12;
  float Host[N], *X, *Y;
  for (int I = 0; I < N; ++I)
    Host[I] = float(I * 7919 % 1009) / 64;
  cudaMalloc(&X, sizeof(Host));
  cudaMalloc(&Y, sizeof(Host));
  cudaMemcpy(X, Host, sizeof(Host), cudaMemcpyHostToDevice);
  for (int I = 0; I < 2; ++I)
    decay<<<N / 128, 128>>>(X, Y, N - I);
  return cudaDeviceSynchronize() != cudaSuccess;
}
