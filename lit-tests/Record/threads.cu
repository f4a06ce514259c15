// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several host threads, each in its own default stream: results as without
// recording, and every record is whole.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -DCUDA_API_PER_THREAD_DEFAULT_STREAM -O2 %s -o %t %cudart
// RUN: env R3_DEVICE=%device %t > %t.plain
// RUN: env R3_DEVICE=%device R3_RECORD=1 %t > %t.recorded
// RUN: diff %t.plain %t.recorded
// RUN: r3 list | FileCheck %s
#include <cstdio>
#include <thread>
#include <vector>
__global__ void step(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 3 + 1;
}
static void work(int n, unsigned *out) {
  std::vector<int> h(n, 1);
  int *d;
  cudaMalloc(&d, n * sizeof(int));
  cudaMemcpy(d, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  for (int i = 0; i < 50; ++i)
    step<<<(n + 63) / 64, 64>>>(d, n);
  cudaMemcpy(h.data(), d, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (int v : h) *out += unsigned(v);
  cudaFree(d);
}
int main() {
  unsigned sums[4] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back(work, 1000 << (2 * t), &sums[t]);
  for (auto &t : threads) t.join();
  printf("%u %u %u %u\n", sums[0], sums[1], sums[2], sums[3]);
}
// CHECK: step {{.*}} 200 6 {{.*}} replayable
