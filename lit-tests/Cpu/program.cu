// A program on the CPU device: shared memory, barriers, warp operations,
// globals, constants, printf, streams; and the same with all winners off.
// REQUIRES: plugin
// RUN: clang-r3 -O2 %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe | FileCheck %s
// RUN: R3_DEVICE=cpu R3_CPU_THREADS=1 R3_DISABLE=1 %t.exe | FileCheck %s
// RUN: clang-r3 -O0 %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe | FileCheck %s
#include <cstdio>

__constant__ float Weights[3];
__device__ int Rounds;

template <int N> __global__ void smooth(const float *In, float *Out) {
  __shared__ float Tile[N + 2];
  int I = blockIdx.x * N + threadIdx.x;
  Tile[threadIdx.x + 1] = In[I];
  if (threadIdx.x == 0)
    Tile[0] = I ? In[I - 1] : 0;
  if (threadIdx.x == N - 1)
    Tile[N + 1] = I + 1 < gridDim.x * N ? In[I + 1] : 0;
  __syncthreads();
  float Value = 0;
  for (int K = 0; K < 3; ++K)
    Value += Weights[K] * Tile[threadIdx.x + K];
  Out[I] = Value;
  if (I == 0 && ++Rounds == 2)
    printf("round %d of block size %d\n", Rounds, N);
}

__global__ void sum(const float *In, int N, float *Out) {
  float Value = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < N;
       I += gridDim.x * blockDim.x)
    Value += In[I];
  for (int Offset = 16; Offset; Offset /= 2)
    Value += __shfl_down_sync(~0u, Value, Offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(Out, Value);
}

int main() {
  const int N = 128 * 100;
  const float Host[3] = {0.25f, 0.5f, 0.25f};
  float *A, *B, *Total, Result[2] = {0, 0};
  cudaStream_t Stream;
  cudaStreamCreate(&Stream);
  cudaMalloc(&A, N * sizeof(float));
  cudaMalloc(&B, N * sizeof(float));
  cudaMalloc(&Total, sizeof(Result));
  cudaMemcpyToSymbol(Weights, Host, sizeof(Host));
  float *Start = new float[N];
  for (int I = 0; I < N; ++I)
    Start[I] = I % 8;
  cudaMemcpy(A, Start, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(Total, 0, sizeof(Result));
  smooth<128><<<100, 128, 0, Stream>>>(A, B);
  sum<<<4, 256, 0, Stream>>>(B, N, Total);
  smooth<128><<<100, 128, 0, Stream>>>(B, A);
  sum<<<4, 256, 0, Stream>>>(A, N, Total + 1);
  cudaStreamSynchronize(Stream);
  int Count = 0;
  cudaMemcpyFromSymbol(&Count, Rounds, sizeof(Count));
  cudaMemcpy(Result, Total, sizeof(Result), cudaMemcpyDeviceToHost);
  printf("rounds %d, sums %.3f %.3f, %s\n", Count, Result[0], Result[1],
         cudaGetErrorName(cudaGetLastError()));
}
// CHECK: round 2 of block size 128
// CHECK: rounds 2, sums 44798.250 44796.938, cudaSuccess
