// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// launches COUNT LOOPS: LOOPS times COUNT launches of an empty kernel, and how
// long one took.
#include <chrono>
#include <cstdio>
#include <cstdlib>

__global__ void empty() {}

static double nanoseconds(int Count) {
  auto Begin = std::chrono::steady_clock::now();
  for (int I = 0; I < Count; ++I)
    empty<<<1, 32>>>();
  cudaDeviceSynchronize();
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now() - Begin)
             .count() /
         Count;
}

int main(int Count, char **Arguments) {
  nanoseconds(10000);
  if (Count != 3)
    return 2;
  for (int Loop = 0; Loop < std::atoi(Arguments[2]); ++Loop)
    std::printf("launch %.3f ns\n", nanoseconds(std::atoi(Arguments[1])));
  return cudaGetLastError() != cudaSuccess;
}
