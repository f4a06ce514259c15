// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that use cooperative groups of a block, of a warp and of parts of
// one. Each writes what the host can compute, too.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

/// Twelve results of a group's operations on Value.
template <typename Group, typename T>
__device__ void operations(Group G, T Value, T *To) {
  *To++ = G.thread_rank();
  *To++ = G.size();
  *To++ = G.shfl(Value, 0);
  *To++ = G.thread_rank() > 0 ? G.shfl_up(Value, 1) : (G.shfl_up(Value, 1), 0);
  *To++ = G.thread_rank() + 1 < G.size() ? G.shfl_down(Value, 1)
                                         : (G.shfl_down(Value, 1), 0);
  *To++ = cg::reduce(G, Value, cg::plus<T>());
  *To++ = cg::reduce(G, Value, cg::less<T>());
  *To++ = cg::reduce(G, Value, cg::greater<T>());
  *To++ = cg::inclusive_scan(G, Value, cg::plus<T>());
  *To++ = cg::exclusive_scan(G, Value, cg::plus<T>());
  *To++ = G.any(Value > 40) * 2 + G.all(Value > 40);
  *To++ = __popc(G.ballot(Value > 40));
  G.sync();
}

/// Where: tiles of 32, tiles of 4, every third lane, halves by a label.
template <typename T> __device__ void groups(const T *In, T *Out) {
  cg::thread_block Block = cg::this_thread_block();
  int I = Block.thread_rank();
  T Value = In[I], *To = Out + 48 * I;
  auto Warp = cg::tiled_partition<32>(Block);
  operations(Warp, Value, To);
  operations(cg::tiled_partition<4>(Warp), Value, To + 12);
  if (I % 3 == 0)
    operations(cg::coalesced_threads(), Value, To + 24);
  operations(cg::labeled_partition(Warp, I % 8 < 3), Value, To + 36);
}
KERNEL groupsOfInts(const int *In, int *Out) { groups(In, Out); }
KERNEL groupsOfFloats(const float *In, float *Out) { groups(In, Out); }
KERNEL groupsOfDoubles(const double *In, double *Out) { groups(In, Out); }
KERNEL groupsOfLongs(const long long *In, long long *Out) { groups(In, Out); }

/// Bits, matches, one thread for all, a tile whose size is known at run
/// time.
KERNEL bits(const unsigned *In, unsigned *Out) {
  auto Block = cg::this_thread_block();
  auto Warp = cg::tiled_partition<32>(Block);
  unsigned I = Block.thread_rank(), Value = In[I], *To = Out + 8 * I;
  *To++ = cg::reduce(Warp, Value, cg::bit_and<unsigned>());
  *To++ = cg::reduce(Warp, Value, cg::bit_or<unsigned>());
  *To++ = cg::reduce(Warp, Value, cg::bit_xor<unsigned>());
  *To++ = Warp.match_any(Value % 5);
  int Same = 7;
  *To++ = Warp.match_all(Value / 1000, Same) + Same;
  *To++ =
      cg::invoke_one_broadcast(Warp, [&] { return Warp.meta_group_rank(); });
  auto Tile = cg::tiled_partition(Block, 8);
  Tile.sync();
  *To++ = Tile.thread_rank();
  auto Odd = cg::binary_partition(Warp, Value % 2 != 0);
  *To++ = Odd.size();
}

/// Tiles of several warps, which meet in shared memory; copies; a barrier in
/// two steps.
KERNEL wide(const int *In, int *Out) {
  __shared__ cg::block_tile_memory<256> Memory;
  __shared__ int Copy[256];
  auto Block = cg::this_thread_block(Memory);
  auto Tile = cg::tiled_partition<128>(Block);
  int I = Block.thread_rank();
  cg::memcpy_async(Block, Copy, In, sizeof(int) * Block.size());
  cg::wait(Block);
  int Value = Copy[Block.size() - 1 - I];
  Out[4 * I] = cg::reduce(Tile, Value, cg::plus<int>());
  Out[4 * I + 1] = Tile.shfl(Value, 5);
  Out[4 * I + 2] = Tile.meta_group_rank() * 10 + Tile.any(Value == 0);
  auto Token = Block.barrier_arrive();
  Block.barrier_wait(std::move(Token));
  Out[4 * I + 3] = Copy[(I + 1) % Block.size()];
}

/// Which lanes are active, at the same call in turns of a loop of different
/// lengths.
KERNEL actives(unsigned *Out) {
  unsigned Lane = threadIdx.x % 32;
  for (unsigned Turn = 0; Turn <= Lane / 8; ++Turn) {
    unsigned Mask = __activemask();
    Out[4 * threadIdx.x + Turn] = Mask;
    __syncwarp(Mask);
  }
}

/// Both sides of a branch ask in the same inline function, and so does a
/// function that is not inline.
__device__ __noinline__ unsigned sizeHere() {
  return cg::coalesced_threads().size();
}
KERNEL branches(unsigned *Out) {
  unsigned I = threadIdx.x, *To = Out + 3 * I;
  if (I % 4 == 0) {
    auto Here = cg::coalesced_threads();
    To[0] = Here.size();
    To[1] = cg::reduce(Here, I, cg::plus<unsigned>());
    To[2] = sizeHere();
  } else {
    auto Here = cg::coalesced_threads();
    To[0] = Here.size();
    To[1] = Here.shfl(I, Here.size() - 1);
    To[2] = sizeHere();
  }
}
