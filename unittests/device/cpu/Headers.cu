// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that use CUDA's own headers, which contain inline PTX.
#include <cooperative_groups.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

KERNEL tiles(int *Out) {
  cg::thread_block Block = cg::this_thread_block();
  auto Tile = cg::tiled_partition<16>(Block);
  int Value = Block.thread_rank();
  for (int Step = 8; Step; Step /= 2)
    Value += Tile.shfl_xor(Value, Step);
  Block.sync();
  Out[Block.thread_rank()] = Value * 100 + Tile.thread_rank();
}

KERNEL coalesced(int *Out) {
  if (threadIdx.x % 3 == 0) {
    auto Here = cg::coalesced_threads();
    Out[threadIdx.x] = Here.size() * 100 + Here.thread_rank();
  }
}

KERNEL gridSync(int *Data, int *Out) {
  cg::grid_group Grid = cg::this_grid();
  for (int Round = 0; Round < 3; ++Round) {
    Data[Grid.thread_rank()] += Round + 1;
    Grid.sync();
    int Other = Data[(Grid.thread_rank() + blockDim.x) % Grid.size()];
    Grid.sync();
    Out[Grid.thread_rank()] = Out[Grid.thread_rank()] * 10 + Other;
  }
}

KERNEL halves(const __half *A, __half *Out, __half2 *Pairs, float *Wide) {
  int I = threadIdx.x;
  Out[I] = __hfma(A[I], __float2half(2.0f), __hadd(A[I], A[0]));
  Pairs[I] = __hmul2(Pairs[I], __halves2half2(A[1], A[2]));
  Wide[I] = __half2float(__hsub(A[I], A[1]));
}

KERNEL caches(const float *In, float *Out, volatile int *Flag) {
  if (threadIdx.x == 31)
    *Flag = 1;
  while (*Flag == 0)
    __nanosleep(20);
  __stwt(Out + threadIdx.x, __ldcg(In + threadIdx.x) + __ldcs(In));
}
