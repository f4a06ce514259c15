// A kernel that reads or writes outside what was recorded: here through an
// address that the recorder could not see. Its replay says so, with the place,
// also where the memory is mapped (beside what was recorded) and nothing comes
// out wrong. All else that a kernel may touch is no such access.
//
// REQUIRES: plugin
// RUN: clang-r3 %cuda -O2 -gline-tables-only %s -o %t.exe %cudart
// RUN: r3 --device %device record --min-share 0 -- %t.exe > /dev/null
// RUN: not r3 --device %device replay -n 1 --json > %t.json
// RUN: %python -c "import json,sys; [print(r['name'], r['outcome'], r['message']) \
// RUN:   for r in json.load(open(sys.argv[1]))['replays']]" %t.json | sort | FileCheck %s
// CHECK: allowed ok
// CHECK: reads<4> out-of-bounds the original reads 4 bytes at 0x{{[0-9a-f]+}}, outside of the recorded memory ({{.*}}bounds.cu:[[#@LINE+9]] in {{.*}}; block 0,0,0 thread {{[0-9]+}},0,0; 60 such accesses)
// CHECK: reads<5> out-of-bounds the original reads 4 bytes at {{.*}}; 59 such accesses)
// CHECK: writes out-of-bounds the original writes 4 bytes at 0x{{[0-9a-f]+}}, outside of the recorded memory ({{.*}}bounds.cu:[[#@LINE+13]] in {{.*}}; block 0,0,0 thread {{[0-9]+}},0,0; 58 such accesses)
#include <cooperative_groups.h>
using Word = unsigned long;

template <int First> __global__ void reads(float *Out, Word Masked) {
  float Sum = First;
  if (threadIdx.x >= First)
    Sum += 0 * reinterpret_cast<float *>(~Masked)[threadIdx.x];
  Out[threadIdx.x] = Sum;
}
__global__ void writes(float *Out, Word Masked) {
  Out[threadIdx.x] = 2;
  if (threadIdx.x >= 6)
    reinterpret_cast<float *>(~Masked)[threadIdx.x] = 3;
}

__constant__ float Constant[4] = {1, 2, 3, 4};
__device__ float Global = 2;
__device__ const float Fixed[4] = {5, 6, 7, 8};
__global__ void allowed(float *Out, float *Part) {
  __shared__ float Shared[64];
  float Own[8], Sin, Cos;
  for (int I = 0; I < 8; ++I)
    Own[(I + threadIdx.x) % 8] = I + Constant[I % 4] * Global;
  Shared[threadIdx.x] = Own[threadIdx.x % 8] + Fixed[threadIdx.x % 4];
  __syncthreads();
  sincosf(Shared[63 - threadIdx.x], &Sin, &Cos);
  Part[blockIdx.x * 64 + threadIdx.x] = Sin + Cos;
  cooperative_groups::this_grid().sync();
  Out[blockIdx.x * 64 + threadIdx.x] = Part[63 - threadIdx.x];
}

int main() {
  char *Memory[5];
  for (char *&M : Memory)
    cudaMalloc(&M, 4 << 20), cudaMemset(M, 0, 4 << 20);
  float *Out, *Near;
  cudaMalloc(&Out, 256), cudaMalloc(&Near, 256), cudaMemset(Near, 0, 256);
  reads<4><<<1, 64>>>(Out, ~Word(Near));
  reads<5><<<1, 64>>>(Out, ~Word(Memory[2] + (2 << 20)));
  writes<<<1, 64>>>(Out, ~Word(Near));
  void *Arguments[] = {&Memory[3], &Memory[4]};
  cudaLaunchCooperativeKernel((void *)allowed, 4, 64, Arguments, 0, nullptr);
  return cudaDeviceSynchronize() != cudaSuccess;
}
