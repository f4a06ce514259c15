// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_runtime.h>
#include <vector>

constexpr int N = 100001;

__global__ void scale(float a, const float *x, float *y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = a * x[i] + 1.0f;
}

__global__ void powers(const double *x, double *y, int n, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  double sum = 0, power = 1;
  for (int t = 0; t < turns; ++t) {
    power *= x[i];
    sum += power;
  }
  y[i] = sum;
}

int main() {
  float *x, *y;
  double *p, *q;
  cudaMalloc(&x, N * sizeof(float));
  cudaMalloc(&y, N * sizeof(float));
  cudaMalloc(&p, N * sizeof(double));
  cudaMalloc(&q, N * sizeof(double));
  std::vector<float> a(N);
  std::vector<double> b(N);
  for (int i = 0; i < N; ++i)
    a[i] = b[i] = (i % 100) / 100.0;
  cudaMemcpy(x, a.data(), N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(p, b.data(), N * sizeof(double), cudaMemcpyHostToDevice);
  const int Blocks = (N + 255) / 256;
  scale<<<Blocks, 256>>>(2, x, y, N);
  powers<<<Blocks, 256>>>(p, q, N, 10);
  return cudaDeviceSynchronize();
}
