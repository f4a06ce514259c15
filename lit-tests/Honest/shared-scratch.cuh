// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two shared variables, the one through pointers that could be any memory's, and
// a copy of 16 bytes at a time.
// Right.
//
// RUN: %try rowsum | FileCheck %s
// CHECK: ok: {{$}}

constexpr int Threads = 64;

static __device__ __attribute__((noinline)) void add(double *to, const double *from) {
  *to += *from;
}

__global__ void rowsum(const double *x, double *sums, int width) {
  __shared__ double part[Threads];
  __shared__ alignas(16) double copy[Threads];
  const int t = threadIdx.x;
  double sum = 0;
  for (int i = t; i < width; i += Threads)
    sum += x[blockIdx.x * width + i];
  part[t] = sum;
  __syncthreads();
  struct alignas(16) Two { double a, b; };
  if (t < Threads / 2)
    reinterpret_cast<Two *>(copy)[t] = {part[2 * t], part[2 * t + 1]};
  __syncthreads();
  for (int half = Threads / 2; half; half /= 2) {
    if (t < half)
      add(copy + t, copy + t + half);
    __syncthreads();
  }
  if (t == 0)
    sums[blockIdx.x] = copy[0];
}
