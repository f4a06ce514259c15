// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// launches COUNT: COUNT launches of an empty kernel, and how long one took.
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
  double Each = nanoseconds(Count > 1 ? std::atoi(Arguments[1]) : 1000000);
  if (cudaGetLastError() != cudaSuccess)
    return 1;
  std::printf("launch %.3f ns\n", Each);
}
