// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// faults MIB: kernels that are right when optimised and go wrong when not, each
// in a way of its own, with MIB of memory in reach. __builtin_constant_p of a
// sum tells the two apart: only an optimiser finds that it is constant.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

template <int Kind> __global__ void mayFail(uint32_t *Words) {
  int Sum = 0;
  for (int I = 0; I < 4; ++I)
    Sum += I;
  if (!__builtin_constant_p(Sum)) {
    if (Kind == 0)
      *reinterpret_cast<volatile int *>(16) = 1; // illegal access
    if (Kind == 1)
      while (*const_cast<volatile uint32_t *>(Words) != 0xFFFFFFFF)
        ; // endless
    if (Kind == 2)
      __trap();
  }
  Words[threadIdx.x] += Sum;
}

int main(int Count, char **Arguments) {
  size_t Bytes = (Count > 1 ? std::strtoull(Arguments[1], nullptr, 10) : 64)
                 << 20;
  uint32_t *Words;
  if (cudaMalloc(&Words, Bytes) != cudaSuccess ||
      cudaMemset(Words, 0, Bytes) != cudaSuccess)
    return 1;
  mayFail<0><<<1, 32>>>(Words);
  mayFail<1><<<1, 32>>>(Words);
  mayFail<2><<<1, 32>>>(Words);
  if (cudaDeviceSynchronize() != cudaSuccess)
    return 1;
  std::puts("ok");
}
