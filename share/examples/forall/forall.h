// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over indices as a kernel, in the manner of performance-portability
// layers: the body is a lambda that captures by value. With it a sum over
// indices whose order is fixed, and arrays that lambdas can capture.
#pragma once

#include "../common/example.h"

namespace forall {

/// A view of device memory; copied into lambdas.
template <typename T> struct View {
  T *Data = nullptr;
  int Size = 0;

  __host__ __device__ T &operator[](int Index) const { return Data[Index]; }
};

template <typename T> View<T> allocate(int Size) {
  View<T> V{nullptr, Size};
  CUDA(cudaMalloc(&V.Data, Size * sizeof(T)));
  return V;
}

/// Launch policies: how many threads in a block.
template <int Count> struct Threads {
  static constexpr int Value = Count;
};
using Default = Threads<256>;

template <int BlockSize, typename Body>
__global__ void __launch_bounds__(BlockSize)
    forallKernel(int Begin, int End, Body Do) {
  int Index = Begin + blockIdx.x * BlockSize + threadIdx.x;
  if (Index < End)
    Do(Index);
}

/// Do(Index) for Begin <= Index < End.
template <typename Policy = Default, typename Body>
void forall(cudaStream_t Stream, int Begin, int End, Body Do) {
  if (End <= Begin)
    return;
  int Blocks = example::ceilDivide(End - Begin, Policy::Value);
  forallKernel<Policy::Value>
      <<<Blocks, Policy::Value, 0, Stream>>>(Begin, End, Do);
  CUDA(cudaGetLastError());
}

/// One block: Out[0] = sum of Of(Index), always in the same order.
template <int BlockSize, typename Body>
__global__ void __launch_bounds__(BlockSize)
    sumKernel(int End, double *Out, Body Of) {
  __shared__ double Sums[BlockSize];
  double Own = 0;
  for (int Index = threadIdx.x; Index < End; Index += BlockSize)
    Own += Of(Index);
  Sums[threadIdx.x] = Own;
  __syncthreads();
  for (int Half = BlockSize / 2; Half > 0; Half /= 2) {
    if (int(threadIdx.x) < Half)
      Sums[threadIdx.x] += Sums[threadIdx.x + Half];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    *Out = Sums[0];
}

template <typename Body>
void sum(cudaStream_t Stream, int End, double *Out, Body Of) {
  sumKernel<512><<<1, 512, 0, Stream>>>(End, Out, Of);
  CUDA(cudaGetLastError());
}

} // namespace forall
