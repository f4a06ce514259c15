// Per-thread default streams: two threads' default streams do not wait for
// each other, and synchronous copies are work of the thread's own stream.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O1 -DCUDA_API_PER_THREAD_DEFAULT_STREAM -Xclang -fgpu-default-stream=per-thread %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe | FileCheck %s
#include <atomic>
#include <cstdio>
#include <thread>

__global__ void add(int *P, int N) { *P += N; }
static std::atomic<bool> Go{false};

int main() {
  int *P;
  cudaMalloc(&P, 4);
  cudaMemset(P, 0, 4);
  cudaStreamSynchronize(cudaStreamPerThread);
  cudaLaunchHostFunc(
      cudaStreamPerThread,
      [](void *) {
        while (!Go)
          std::this_thread::yield();
      },
      nullptr);
  std::printf("%s\n", cudaGetErrorName(cudaStreamQuery(0)));
  // CHECK: cudaErrorNotReady
  std::thread([&] {
    int Value = -1;
    add<<<1, 1>>>(P, 5);
    cudaMemcpy(&Value, P, 4, cudaMemcpyDeviceToHost);
    std::printf("%d\n", Value);
    // CHECK: {{^}}5
  }).join();
  Go = true;
  add<<<1, 1>>>(P, 6);
  int Value = -1;
  cudaMemcpy(&Value, P, 4, cudaMemcpyDeviceToHost);
  std::printf("%d\n", Value);
  // CHECK: {{^}}11
}
