// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with inline PTX of several instructions, their own and that of
// CUDA's headers.
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#define KERNEL extern "C" __global__ void

/// Registers, groups, guards, operands that go in and out, in any order.
KERNEL snippets(const unsigned *In, unsigned *Out) {
  unsigned I = threadIdx.x, X = In[I], Sum = X, High, Low;
  asm("{ .reg .pred p;\n"
      "  .reg .u32 t; // scratch\n"
      "  setp.gt.u32 p, %1, 10;\n"
      "  mul.lo.u32 t, %1, 3;\n"
      "  @p add.u32 %0, t, %0;\n"
      "  @!p sub.u32 %0, %0, t; }"
      : "+r"(Sum)
      : "r"(X));
  asm("{ .reg .b16 a, b; mov.b32 {a, b}, %2;"
      "  cvt.u32.u16 %0, b; { .reg .b16 b; mov.b16 b, 7;"
      "  mov.b32 %1, {b, a}; } }"
      : "=r"(High), "=r"(Low)
      : "r"(X));
  Out[4 * I] = Sum;
  Out[4 * I + 1] = High;
  Out[4 * I + 2] = Low;
  asm("{ .reg .pred $p; setp.lt.s32 $p, %1, -1; selp.u32 %0, 1, 0, $p; }"
      : "=r"(Out[4 * I + 3])
      : "r"(X));
}

KERNEL accesses(const int *In, int *Out) {
  __shared__ int Tile[64];
  int A, B;
  asm volatile("ld.global.nc.L1::no_allocate.v2.s32 {%0, %1}, [%2+8];"
               : "=r"(A), "=r"(B)
               : "l"(In));
  unsigned Where =
      static_cast<unsigned>(__cvta_generic_to_shared(&Tile[threadIdx.x]));
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(Where), "r"(A));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(Where + 128),
               "l"(In));
  asm volatile("cp.async.wait_all;");
  short Small;
  asm volatile("ld.volatile.s8 %0, [%1];" : "=h"(Small) : "l"(In + 1));
  unsigned Old;
  asm volatile("atom.global.add.u32 %0, [%1], 2;" : "=r"(Old) : "l"(Out));
  asm volatile("red.relaxed.gpu.global.max.s32 [%0], %1;" ::"l"(Out + 1),
               "r"(B));
  __syncthreads();
  Out[2 + threadIdx.x] = Tile[threadIdx.x] * 100 + Tile[32 + threadIdx.x];
  if (Old == 0)
    Out[66] = Small;
}

KERNEL blocks(const float *In, float *Sum, const int *Integers, int *Scanned) {
  using Reduce = cub::BlockReduce<float, 64>;
  using Scan = cub::BlockScan<int, 64, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ typename Reduce::TempStorage ForSum;
  __shared__ typename Scan::TempStorage ForScan;
  float All = Reduce(ForSum).Sum(In[threadIdx.x]);
  if (threadIdx.x == 0)
    *Sum = All;
  Scan(ForScan).InclusiveSum(Integers[threadIdx.x], Scanned[threadIdx.x]);
}

template <typename T> __device__ float wide(T V) { return float(V); }

/// Sixteen results for each pair of values.
template <typename T, typename T2>
__device__ void computeHalves(float A, float B, float *Out) {
  T X = A, Y = B;
  T2 XY{X, Y}, YX{Y, X};
  *Out++ = wide(X);
  *Out++ = wide(__hadd(X, Y));
  *Out++ = wide(__hmul(X, Y));
  *Out++ = wide(__hfma(X, Y, Y));
  *Out++ = wide(__hmax(X, Y));
  *Out++ = wide(hfloor(X));
  *Out++ = __hlt(X, Y);
  *Out++ = __hequ(X, Y);
  *Out++ = wide(__heq2(XY, YX).y);
  *Out++ = __hle2_mask(XY, YX) & 0xffff ? 1 : 0;
  *Out++ = wide(__hsub2(XY, YX).y);
  *Out++ = wide(__hfma2(XY, YX, XY).x);
  *Out++ = wide(T(static_cast<int>(A)));
  *Out++ = wide(__habs(__hneg(X)));
  *Out++ = wide(hsqrt(__habs(X)));
  *Out++ = wide(atomicAdd(reinterpret_cast<T *>(&XY), Y));
}
KERNEL halves(const float *In, float *Out) {
  computeHalves<__half, __half2>(In[0], In[1], Out);
}
KERNEL brains(const float *In, float *Out) {
  computeHalves<__nv_bfloat16, __nv_bfloat162>(In[0], In[1], Out);
}

/// All bytes as floats, and floats as bytes, directly and as halves.
template <typename T, typename T2>
__device__ void convertBytes(float *Floats, const float *In,
                             unsigned short *Out) {
  int I = threadIdx.x;
  T Byte;
  Byte.__x = static_cast<unsigned char>(I);
  Floats[I] = static_cast<float>(Byte);
  Out[2 * I] = T2(make_float2(In[I], -In[I])).__x;
  Out[2 * I + 1] = T2(__floats2half2_rn(In[I], -In[I])).__x;
}
KERNEL bytes4(float *Floats, const float *In, unsigned short *Out) {
  convertBytes<__nv_fp8_e4m3, __nv_fp8x2_e4m3>(Floats, In, Out);
}
KERNEL bytes5(float *Floats, const float *In, unsigned short *Out) {
  convertBytes<__nv_fp8_e5m2, __nv_fp8x2_e5m2>(Floats, In, Out);
}

// --- What is refused.

KERNEL label(int *Out) {
  asm volatile(
      "{ .reg .pred p; LOOP: setp.eq.u32 p, %0, 0; @p bra LOOP; }" ::"r"(*Out));
}
KERNEL unevenGroup(int *Out) {
  asm("mov.b32 {%0, %1, %2}, %3;"
      : "=r"(Out[0]), "=r"(Out[1]), "=r"(Out[2])
      : "r"(Out[3]));
}
KERNEL tooManyOperands(int *Out) {
  asm("add.u32 %0, %1, %1, %1;" : "=r"(Out[0]) : "r"(Out[1]));
}
KERNEL readsAnAddress(int *Out) {
  asm("add.u32 %0, [%1], 1;" : "=r"(Out[0]) : "l"(Out));
}
KERNEL loadsFromSmallAddress(int *Out) {
  asm("ld.shared.u32 %0, [%1];" : "=r"(Out[0]) : "h"(short(Out[1])));
}
