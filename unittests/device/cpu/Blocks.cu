// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that use CUB's algorithms of a block and of a warp, in all variants.
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
constexpr int Threads = 128, Items = 4;

/// Sum, maximum, sum of the first 100; one variant.
template <typename T, cub::BlockReduceAlgorithm Algorithm>
__device__ void reduceBy(const T *In, T *Out) {
  using Reduce = cub::BlockReduce<T, Threads, Algorithm>;
  __shared__ typename Reduce::TempStorage Storage;
  T Value = In[threadIdx.x];
  T Sum = Reduce(Storage).Sum(Value);
  __syncthreads();
  T Most =
      Reduce(Storage).Reduce(Value, [](T A, T B) { return A < B ? B : A; });
  __syncthreads();
  T Some = Reduce(Storage).Sum(Value, 100);
  __syncthreads();
  if (threadIdx.x == 0) {
    Out[0] = Sum;
    Out[1] = Most;
    Out[2] = Some;
  }
}
template <typename T> __device__ void reduce(const T *In, T *Out) {
  reduceBy<T, cub::BLOCK_REDUCE_RAKING>(In, Out);
  reduceBy<T, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>(In, Out + 3);
  reduceBy<T, cub::BLOCK_REDUCE_WARP_REDUCTIONS>(In, Out + 6);
}

/// Sums up to each of two items a thread, without and with the item.
template <typename T, cub::BlockScanAlgorithm Algorithm>
__device__ void scanBy(const T *In, T *Out) {
  using Scan = cub::BlockScan<T, Threads, Algorithm>;
  __shared__ typename Scan::TempStorage Storage;
  int I = 2 * threadIdx.x;
  T Values[2] = {In[I], In[I + 1]}, Scanned[2];
  Scan(Storage).InclusiveSum(Values, Scanned);
  Out[I] = Scanned[0];
  Out[I + 1] = Scanned[1];
  __syncthreads();
  T All;
  Scan(Storage).ExclusiveSum(Values, Scanned, All);
  Out[2 * Threads + I] = Scanned[0];
  Out[2 * Threads + I + 1] = Scanned[1];
  __syncthreads();
}
template <typename T> __device__ void scan(const T *In, T *Out) {
  scanBy<T, cub::BLOCK_SCAN_RAKING>(In, Out);
  scanBy<T, cub::BLOCK_SCAN_RAKING_MEMOIZE>(In, Out + 4 * Threads);
  scanBy<T, cub::BLOCK_SCAN_WARP_SCANS>(In, Out + 8 * Threads);
}

/// In order by radix, downwards, and by merging; with where each came from.
template <typename T> __device__ void sort(const T *In, T *Out, int *From) {
  using Radix = cub::BlockRadixSort<T, Threads, Items, int>;
  using Merge = cub::BlockMergeSort<T, Threads, Items>;
  __shared__ union {
    typename Radix::TempStorage ByRadix;
    typename Merge::TempStorage ByMerging;
  } Storage;
  constexpr int All = Threads * Items;
  T Keys[Items];
  int Places[Items];
  auto Load = [&] {
    for (int K = 0; K < Items; ++K) {
      Places[K] = Items * threadIdx.x + K;
      Keys[K] = In[Places[K]];
    }
    __syncthreads();
  };
  Load();
  Radix(Storage.ByRadix).Sort(Keys, Places);
  cub::StoreDirectBlocked(threadIdx.x, Out, Keys);
  cub::StoreDirectBlocked(threadIdx.x, From, Places);
  Load();
  Radix(Storage.ByRadix).SortDescendingBlockedToStriped(Keys, Places);
  cub::StoreDirectStriped<Threads>(threadIdx.x, Out + All, Keys);
  Load();
  Merge(Storage.ByMerging).Sort(Keys, [](T A, T B) { return A < B; });
  cub::StoreDirectBlocked(threadIdx.x, Out + 2 * All, Keys);
}

/// A copy of 500 values, the others -1, through shared memory and back.
template <typename T, cub::BlockLoadAlgorithm From, cub::BlockStoreAlgorithm To>
__device__ void moveBy(const T *In, T *Out) {
  using Load = cub::BlockLoad<T, Threads, Items, From>;
  using Store = cub::BlockStore<T, Threads, Items, To>;
  __shared__ union {
    typename Load::TempStorage ForLoad;
    typename Store::TempStorage ForStore;
  } Storage;
  T Values[Items];
  __syncthreads();
  Load(Storage.ForLoad).Load(In, Values, 500, T(-1));
  for (T &Value : Values)
    Value = Value + T(1);
  __syncthreads();
  Store(Storage.ForStore).Store(Out, Values);
}
template <typename T> __device__ void move(const T *In, T *Out) {
  constexpr int All = Threads * Items;
  moveBy<T, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>(In, Out);
  moveBy<T, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>(In, Out + All);
  moveBy<T, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>(
      In, Out + 2 * All);
  moveBy<T, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>(
      In, Out + 3 * All);
  moveBy<T, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(
      In, Out + 4 * All);
  moveBy<T, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
         cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>(In, Out + 5 * All);
}

/// Of a warp: sum, sum of 7 lanes, sums of segments, both scans, of 16 lanes.
template <typename T> __device__ void warps(const T *In, T *Out) {
  using Reduce = cub::WarpReduce<T>;
  using Narrow = cub::WarpReduce<T, 16>;
  using Scan = cub::WarpScan<T>;
  __shared__ typename Reduce::TempStorage ForReduce[4];
  __shared__ typename Narrow::TempStorage ForNarrow[8];
  __shared__ typename Scan::TempStorage ForScan[4];
  int I = threadIdx.x, Warp = I / 32;
  T Value = In[I], Scanned;
  Out += 7 * I;
  *Out++ = Reduce(ForReduce[Warp]).Sum(Value);
  *Out++ = Reduce(ForReduce[Warp]).Sum(Value, 7);
  *Out++ = Reduce(ForReduce[Warp]).HeadSegmentedSum(Value, I % 5 == 0);
  Scan(ForScan[Warp]).InclusiveSum(Value, Scanned);
  *Out++ = Scanned;
  Scan(ForScan[Warp]).ExclusiveSum(Value, Scanned);
  *Out++ = Scanned;
  *Out++ = Scan(ForScan[Warp]).Broadcast(Value, 3);
  *Out++ = Narrow(ForNarrow[I / 16]).Sum(Value);
}

#define ALL(Name, Type)                                                        \
  KERNEL reduce##Name(const Type *In, Type *Out) { reduce(In, Out); }          \
  KERNEL scan##Name(const Type *In, Type *Out) { scan(In, Out); }              \
  KERNEL sort##Name(const Type *In, Type *Out, int *From) {                    \
    sort(In, Out, From);                                                       \
  }                                                                            \
  KERNEL move##Name(const Type *In, Type *Out) { move(In, Out); }              \
  KERNEL warps##Name(const Type *In, Type *Out) { warps(In, Out); }
ALL(Int, int)
ALL(Unsigned, unsigned)
ALL(Float, float)
ALL(Double, double)
ALL(Long, long long)
ALL(Byte, unsigned char)

KERNEL sortHalf(const __half *In, __half *Out, int *From) {
  sort(In, Out, From);
}
KERNEL histogram(const unsigned char *In, unsigned *Out) {
  using Counts = cub::BlockHistogram<unsigned char, Threads, Items, 256,
                                     cub::BLOCK_HISTO_SORT>;
  __shared__ typename Counts::TempStorage Storage;
  __shared__ unsigned Bins[256];
  unsigned char Values[Items];
  cub::LoadDirectStriped<Threads>(threadIdx.x, In, Values);
  Counts(Storage).Histogram(Values, Bins);
  __syncthreads();
  for (int I = threadIdx.x; I < 256; I += Threads)
    Out[I] = Bins[I];
}
