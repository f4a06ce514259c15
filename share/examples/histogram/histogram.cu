// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts of pixel values, all in integers: blocks count in shared memory with
// atomics and add their counts to the global ones; then the image is equalised
// by the running sum of the counts and counted again. A __device__ variable
// counts the pixels that changed.
//
//   histogram [THOUSANDS-OF-PIXELS [ROUNDS]]
#include "../common/example.h"

#include <algorithm>
#include <vector>

constexpr int Bins = 256, Threads = 256;

static __device__ unsigned long long Changed;

__global__ void count(const uchar4 *Pixels, int Quads, unsigned *Counts) {
  __shared__ unsigned Own[Bins];
  for (int I = threadIdx.x; I < Bins; I += blockDim.x)
    Own[I] = 0;
  __syncthreads();
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Quads;
       I += gridDim.x * blockDim.x) {
    uchar4 Four = Pixels[I];
    atomicAdd(&Own[Four.x], 1u);
    atomicAdd(&Own[Four.y], 1u);
    atomicAdd(&Own[Four.z], 1u);
    atomicAdd(&Own[Four.w], 1u);
  }
  __syncthreads();
  for (int I = threadIdx.x; I < Bins; I += blockDim.x)
    if (Own[I])
      atomicAdd(&Counts[I], Own[I]);
}

/// One block: the running sum of the counts as a table of new values.
__global__ void equalise(const unsigned *Counts, unsigned char *Table,
                         int Pixels) {
  __shared__ unsigned Sums[2][Bins];
  int I = threadIdx.x, Now = 0;
  Sums[0][I] = Counts[I];
  __syncthreads();
  for (int Offset = 1; Offset < Bins; Offset *= 2) {
    Sums[1 - Now][I] =
        Sums[Now][I] + (I >= Offset ? Sums[Now][I - Offset] : 0u);
    Now = 1 - Now;
    __syncthreads();
  }
  Table[I] = (unsigned char)((unsigned long long)Sums[Now][I] * (Bins - 1) /
                             (unsigned)Pixels);
}

__global__ void replace(unsigned char *Pixels, int Size,
                        const unsigned char *Table) {
  unsigned Own = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Size;
       I += gridDim.x * blockDim.x) {
    // A little darker in places, or the image would stop changing.
    unsigned char New = Table[Pixels[I]];
    New = (unsigned char)(New - (New > 40 && I % 7 == 0 ? 13 : 0));
    Own += New != Pixels[I];
    Pixels[I] = New;
  }
  if (Own)
    atomicAdd(&Changed, (unsigned long long)Own);
}

namespace {

/// The same on the host; returns how many pixels changed.
unsigned long long hostRound(std::vector<unsigned char> &Pixels,
                             unsigned (&Counts)[Bins]) {
  std::fill(Counts, Counts + Bins, 0u);
  for (unsigned char Pixel : Pixels)
    ++Counts[Pixel];
  unsigned char Table[Bins];
  unsigned long long Sum = 0, HostChanged = 0;
  for (int I = 0; I < Bins; ++I) {
    Sum += Counts[I];
    Table[I] = (unsigned char)(Sum * (Bins - 1) / Pixels.size());
  }
  for (size_t I = 0; I < Pixels.size(); ++I) {
    unsigned char New = Table[Pixels[I]];
    New = (unsigned char)(New - (New > 40 && I % 7 == 0 ? 13 : 0));
    HostChanged += New != Pixels[I];
    Pixels[I] = New;
  }
  return HostChanged;
}

} // namespace

int main(int Count, char **Arguments) {
  int Size = example::argument(Count, Arguments, 1, 64000, 2000000) * 1000;
  int Rounds = example::argument(Count, Arguments, 2, 100);
  std::printf("histogram: %d pixels, %d rounds\n", Size, Rounds);
  std::vector<unsigned char> Host(Size);
  for (int I = 0; I < Size; ++I)
    Host[I] =
        (unsigned char)(64 * (example::noise(I) + example::noise(I / 64)));

  unsigned char *Pixels, *Table;
  unsigned *Counts, HostCounts[Bins], Have[Bins];
  CUDA(cudaMalloc(&Pixels, Size));
  CUDA(cudaMalloc(&Table, Bins));
  CUDA(cudaMalloc(&Counts, sizeof(Have)));
  CUDA(cudaHostRegister(Host.data(), Size, cudaHostRegisterDefault));
  cudaStream_t Stream;
  CUDA(cudaStreamCreate(&Stream));
  CUDA(cudaMemcpyAsync(Pixels, Host.data(), Size, cudaMemcpyHostToDevice,
                       Stream));
  unsigned long long Zero = 0, Total = 0, First = 0;
  CUDA(cudaMemcpyToSymbolAsync(Changed, &Zero, sizeof(Zero), 0,
                               cudaMemcpyHostToDevice, Stream));
  CUDA(cudaStreamSynchronize(Stream));
  CUDA(cudaHostUnregister(Host.data()));

  int Multiprocessors = 0;
  CUDA(cudaDeviceGetAttribute(&Multiprocessors, cudaDevAttrMultiProcessorCount,
                              0));
  int Blocks =
      std::min(Multiprocessors * 8, example::ceilDivide(Size, Threads * 4));
  example::Timer Time;
  bool Right = true;
  for (int Round = 0; Round < Rounds; ++Round) {
    CUDA(cudaMemsetAsync(Counts, 0, sizeof(Have), Stream));
    count<<<Blocks, Threads, 0, Stream>>>(
        reinterpret_cast<const uchar4 *>(Pixels), Size / 4, Counts);
    equalise<<<1, Bins, 0, Stream>>>(Counts, Table, Size);
    replace<<<Blocks, Threads, 0, Stream>>>(Pixels, Size, Table);
    CUDA(cudaGetLastError());
    if (Round > 0)
      continue;
    CUDA(cudaMemcpyAsync(Have, Counts, sizeof(Have), cudaMemcpyDeviceToHost,
                         Stream));
    CUDA(cudaStreamSynchronize(Stream));
    CUDA(cudaMemcpyFromSymbol(&First, Changed, sizeof(First)));
    Right &= hostRound(Host, HostCounts) == First;
    Right &= std::equal(Have, Have + Bins, HostCounts);
  }
  CUDA(cudaMemcpyAsync(Have, Counts, sizeof(Have), cudaMemcpyDeviceToHost,
                       Stream));
  CUDA(cudaStreamSynchronize(Stream));
  double Milliseconds = Time.milliseconds();
  CUDA(cudaMemcpyFromSymbol(&Total, Changed, sizeof(Total)));
  uint64_t Checksum = Total, Pixelsum = 0;
  for (int I = 0; I < Bins; ++I) {
    Checksum = Checksum * 1099511628211ull + Have[I];
    Pixelsum += Have[I];
  }
  Right &= Pixelsum == uint64_t(Size);
  CUDA(cudaFree(Pixels));
  CUDA(cudaFree(Table));
  CUDA(cudaFree(Counts));
  CUDA(cudaStreamDestroy(Stream));
  return example::finish(Milliseconds, Right, Checksum);
}
