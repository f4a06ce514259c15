// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel whose rounding depends on the order of its sums: each thread's dot
// product of a row with one vector.
#include <cstdio>
#include <vector>

constexpr int Terms = 96;

__global__ void dots(const float *rows, const float *x, float *out, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n)
    return;
  float sum = 0;
  for (int k = 0; k < Terms; ++k)
    sum += rows[row * Terms + k] * x[k];
  out[row] = sum;
}

int main() {
  const int n = 1000;
  std::vector<float> Rows(n * Terms), X(Terms), Out(n);
  unsigned State = 1;
  auto Next = [&] { return float((State = State * 1664525 + 1013904223) >> 8) / (1 << 24) - 0.25f; };
  for (float &Value : Rows)
    Value = Next();
  for (float &Value : X)
    Value = Next();
  float *rows, *x, *out;
  cudaMalloc(&rows, Rows.size() * sizeof(float));
  cudaMalloc(&x, X.size() * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMemcpy(rows, Rows.data(), Rows.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(x, X.data(), X.size() * sizeof(float), cudaMemcpyHostToDevice);
  dots<<<(n + 127) / 128, 128>>>(rows, x, out, n);
  cudaMemcpy(Out.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("%g\n", Out[7]);
}
