// A kernel that just fits into the registers of its block: builds that look at
// it need more of them, and have to do with those that there are. The launch
// changes nothing, so that without a trace there would be no evidence.
// REQUIRES: gpu, plugin
// RUN: clang-r3 %cuda -O2 %s -o %t.exe %cudart
// RUN: r3 --device %device record --min-share 0 -c 1 -- %t.exe
// RUN: r3 --device %device replay --json > %t.json
// RUN: %python -c "import json,sys; r=json.load(open(sys.argv[1]))['replays'][0]; \
// RUN:   assert r['outcome'] == 'ok' and 'untraced' not in r and r['poisonedBytes'] == 8192, r" %t.json
#include <cstdio>
__global__ void wide(const double *In, double *Out) {
  double V[20];
#pragma unroll
  for (int I = 0; I < 20; ++I)
    V[I] = In[I * 1024 + threadIdx.x];
  double Sum = 0;
#pragma unroll
  for (int I = 0; I < 20; ++I)
    Sum = Sum * V[I] + V[19 - I];
  Out[threadIdx.x] = Sum;
}
int main() {
  double *In, *Out;
  cudaMalloc(&In, 20 * 1024 * sizeof(double));
  cudaMalloc(&Out, 1024 * sizeof(double));
  cudaMemset(In, 0, 20 * 1024 * sizeof(double));
  cudaMemset(Out, 0, 1024 * sizeof(double));
  wide<<<1, 1024>>>(In, Out);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
}
