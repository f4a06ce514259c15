// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled twice for one program, with and without R3: LAUNCHES is the name of
// its loop in each. With MAIN it has the program, too:
//   launches COUNT LOOPS: LOOPS times COUNT launches of an empty kernel by each
// of the two in turn, and how long one took. In one process, since from one
// process to the next the same launch differs by a tenth.
#include <chrono>
#include <cstdio>
#include <cstdlib>

static __global__ void empty() {}

/// Nanoseconds.
double LAUNCHES(int Count) {
  auto Begin = std::chrono::steady_clock::now();
  for (int I = 0; I < Count; ++I)
    empty<<<1, 32>>>();
  cudaDeviceSynchronize();
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now() - Begin)
             .count() /
         Count;
}

#ifdef MAIN
double plainLaunches(int Count);
double ourLaunches(int Count);

int main(int Count, char **Arguments) {
  if (Count != 3)
    return 2;
  const int Each = std::atoi(Arguments[1]);
  plainLaunches(Each);
  ourLaunches(Each);
  for (int Loop = 0; Loop < std::atoi(Arguments[2]); ++Loop) {
    const double Plain = plainLaunches(Each);
    std::printf("plain %.3f ns ours %.3f ns\n", Plain, ourLaunches(Each));
  }
  return cudaGetLastError() != cudaSuccess;
}
#endif
