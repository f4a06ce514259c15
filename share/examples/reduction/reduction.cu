// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sum and maximum of a changing array in two stages: lanes of a warp combine
// by shuffles, warps of a block through dynamic shared memory, blocks through
// a second launch. No atomics on floating point, so that the order, and the
// result, are always the same.
//
//   reduction [THOUSANDS-OF-VALUES [ROUNDS]]
#include "../common/example.h"

#include <algorithm>
#include <vector>

struct Sum {
  template <typename T> __host__ __device__ static T combine(T A, T B) {
    return A + B;
  }
};

struct Maximum {
  template <typename T> __host__ __device__ static T combine(T A, T B) {
    return A > B ? A : B;
  }
};

/// Part blockIdx.x of the grid's share of In[0..Size) into Out[blockIdx.x].
/// Needs sizeof(T) of dynamic shared memory a warp.
template <typename Operation, typename T>
__global__ void reduce(const T *In, int Size, T Neutral, T *Out) {
  extern __shared__ unsigned char Shared[];
  T *OfWarps = reinterpret_cast<T *>(Shared);
  int Lane = threadIdx.x % 32, Warp = threadIdx.x / 32;
  T Value = Neutral;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Size;
       I += gridDim.x * blockDim.x)
    Value = Operation::combine(Value, In[I]);
  for (int Distance = 16; Distance > 0; Distance /= 2)
    Value = Operation::combine(Value,
                               __shfl_xor_sync(0xffffffffu, Value, Distance));
  if (Lane == 0)
    OfWarps[Warp] = Value;
  __syncthreads();
  if (Warp != 0)
    return;
  int Warps = blockDim.x / 32;
  Value = Lane < Warps ? OfWarps[Lane] : Neutral;
  for (int Distance = 16; Distance > 0; Distance /= 2)
    Value = Operation::combine(Value,
                               __shfl_xor_sync(0xffffffffu, Value, Distance));
  if (Lane == 0)
    Out[blockIdx.x] = Value;
}

/// Moves every value a little, by the results of the round before.
template <typename T>
__global__ void update(T *Values, int Size, const T *Total, const T *Largest) {
  T Mean = *Total / T(Size), Limit = *Largest;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Size;
       I += gridDim.x * blockDim.x)
    Values[I] += (Mean - Values[I]) * T(0.01) + Limit * T(0.001);
}

constexpr int Threads = 512;

/// Enough blocks for a GPU, and no more than the values need.
int blocksFor(int Size) {
  return std::min(256, example::ceilDivide(Size, Threads * 8));
}

template <typename Operation, typename T>
void reduceAll(const T *In, int Size, T Neutral, T *OfBlocks, T *Out) {
  size_t Shared = Threads / 32 * sizeof(T);
  int Blocks = blocksFor(Size);
  reduce<Operation><<<Blocks, Threads, Shared>>>(In, Size, Neutral, OfBlocks);
  reduce<Operation><<<1, Threads, Shared>>>(OfBlocks, Blocks, Neutral, Out);
  CUDA(cudaGetLastError());
}

template <typename T>
bool run(int Size, int Rounds, double Tolerance, double &Milliseconds,
         double &Checksum) {
  std::vector<T> Host(Size);
  double HostSum = 0;
  T HostMaximum = -1;
  for (int I = 0; I < Size; ++I) {
    Host[I] = T(example::noise(I));
    HostSum += Host[I];
    HostMaximum = Maximum::combine(HostMaximum, Host[I]);
  }
  int Blocks = blocksFor(Size);
  T *Values, *OfBlocks, *Results; // Results: sum, maximum
  CUDA(cudaMalloc(&Values, Size * sizeof(T)));
  CUDA(cudaMalloc(&OfBlocks, Blocks * sizeof(T)));
  CUDA(cudaMalloc(&Results, 2 * sizeof(T)));
  CUDA(cudaMemcpy(Values, Host.data(), Size * sizeof(T),
                  cudaMemcpyHostToDevice));
  example::Timer Time;
  bool Right = true;
  T Have[2];
  for (int Round = 0; Round < Rounds; ++Round) {
    reduceAll<Sum, T>(Values, Size, T(0), OfBlocks, Results);
    reduceAll<Maximum, T>(Values, Size, T(-1), OfBlocks, Results + 1);
    if (Round % 10 == 0) {
      CUDA(cudaMemcpy(Have, Results, sizeof(Have), cudaMemcpyDeviceToHost));
      Checksum += double(Have[0]) / Size + double(Have[1]);
    }
    if (Round == 0)
      Right =
          example::near(Have[0], HostSum, Tolerance) && Have[1] == HostMaximum;
    update<<<Blocks, Threads>>>(Values, Size, Results, Results + 1);
  }
  CUDA(cudaDeviceSynchronize());
  Milliseconds += Time.milliseconds();
  CUDA(cudaFree(Values));
  CUDA(cudaFree(OfBlocks));
  CUDA(cudaFree(Results));
  return Right;
}

int main(int Count, char **Arguments) {
  int Size = example::argument(Count, Arguments, 1, 64000, 2000000) * 1003;
  int Rounds = example::argument(Count, Arguments, 2, 100);
  std::printf("reduction: %d values, %d rounds, double and float\n", Size,
              Rounds);
  double Milliseconds = 0, Checksum = 0;
  bool Right = run<double>(Size, Rounds, 1e-12, Milliseconds, Checksum);
  Right &= run<float>(Size, Rounds, 1e-4, Milliseconds, Checksum);
  return example::finish(Milliseconds, Right, Checksum);
}
