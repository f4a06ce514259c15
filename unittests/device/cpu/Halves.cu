// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that compute in half and bfloat16 through CUDA's headers, one value
// of each operation a thread; all values are bits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
using Bits = unsigned short;

template <typename T, typename V> __device__ V as(T Value) {
  static_assert(sizeof(T) == sizeof(V));
  return *reinterpret_cast<V *>(&Value);
}

/// Results of sums, products and choices; Count values a thread.
template <typename T>
__device__ void arithmetic(const Bits *In, Bits *Out, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  T A = as<Bits, T>(In[3 * I]), B = as<Bits, T>(In[3 * I + 1]),
    C = as<Bits, T>(In[3 * I + 2]);
  T Results[] = {__hadd(A, B),
                 __hsub(A, B),
                 __hmul(A, B),
                 __hfma(A, B, C),
                 __hmin(A, B),
                 __hmax(A, B),
                 __hmin_nan(A, B),
                 __hmax_nan(A, B),
                 __hadd_sat(A, B),
                 __hfma_sat(A, B, C),
                 __hfma_relu(A, B, C),
                 __hneg(A),
                 __habs(A),
                 hfloor(A),
                 hceil(A),
                 htrunc(A),
                 hrint(A)};
  for (int K = 0; K < 17; ++K)
    Out[17 * I + K] = as<T, Bits>(Results[K]);
}
KERNEL arithmeticF16(const Bits *In, Bits *Out, int Count) {
  arithmetic<__half>(In, Out, Count);
}
KERNEL arithmeticBf16(const Bits *In, Bits *Out, int Count) {
  arithmetic<__nv_bfloat16>(In, Out, Count);
}

/// The same of pairs, where the second half is that of the first thread's
/// neighbour.
template <typename T, typename T2>
__device__ void pairs(const Bits *In, Bits *Out, int Count) {
  int I = threadIdx.x, J = (I + 1) % Count;
  auto At = [&](int K) {
    return T2{as<Bits, T>(In[3 * I + K]), as<Bits, T>(In[3 * J + K])};
  };
  T2 A = At(0), B = At(1), C = At(2);
  T2 Results[] = {__hadd2(A, B),        __hsub2(A, B),        __hmul2(A, B),
                  __hfma2(A, B, C),     __hmin2(A, B),        __hmax2(A, B),
                  __hmin2_nan(A, B),    __hmax2_nan(A, B),    __hadd2_sat(A, B),
                  __hfma2_sat(A, B, C), __hfma2_relu(A, B, C)};
  for (int K = 0; K < 11; ++K) {
    Out[22 * I + 2 * K] = as<T, Bits>(Results[K].x);
    Out[22 * I + 2 * K + 1] = as<T, Bits>(Results[K].y);
  }
}
KERNEL pairsF16(const Bits *In, Bits *Out, int Count) {
  pairs<__half, __half2>(In, Out, Count);
}
KERNEL pairsBf16(const Bits *In, Bits *Out, int Count) {
  pairs<__nv_bfloat16, __nv_bfloat162>(In, Out, Count);
}

/// Bit K of the result: comparison K holds.
template <typename T>
__device__ void compare(const Bits *In, unsigned *Out, int Count) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  T A = as<Bits, T>(In[3 * I]), B = as<Bits, T>(In[3 * I + 1]);
  bool Holds[] = {__heq(A, B),  __hne(A, B),  __hlt(A, B),  __hle(A, B),
                  __hgt(A, B),  __hge(A, B),  __hequ(A, B), __hneu(A, B),
                  __hltu(A, B), __hleu(A, B), __hgtu(A, B), __hgeu(A, B),
                  __hisnan(A)};
  for (int K = 0; K < 13; ++K)
    Out[I] |= Holds[K] << K;
}
KERNEL compareF16(const Bits *In, unsigned *Out, int Count) {
  compare<__half>(In, Out, Count);
}
KERNEL compareBf16(const Bits *In, unsigned *Out, int Count) {
  compare<__nv_bfloat16>(In, Out, Count);
}

// --- Conversions: nearest, to zero, down, up.

KERNEL fromFloatF16(const float *In, Bits *Out) {
  float A = In[threadIdx.x];
  Out += 5 * threadIdx.x;
  *Out++ = __half_as_ushort(__float2half_rn(A));
  *Out++ = __half_as_ushort(__float2half_rz(A));
  *Out++ = __half_as_ushort(__float2half_rd(A));
  *Out++ = __half_as_ushort(__float2half_ru(A));
  *Out++ = __half_as_ushort(__floats2half2_rn(0, A).y);
}
KERNEL fromFloatBf16(const float *In, Bits *Out) {
  float A = In[threadIdx.x];
  Out += 5 * threadIdx.x;
  *Out++ = __bfloat16_as_ushort(__float2bfloat16_rn(A));
  *Out++ = __bfloat16_as_ushort(__float2bfloat16_rz(A));
  *Out++ = __bfloat16_as_ushort(__float2bfloat16_rd(A));
  *Out++ = __bfloat16_as_ushort(__float2bfloat16_ru(A));
  *Out++ = __bfloat16_as_ushort(__floats2bfloat162_rn(0, A).y);
}
KERNEL fromDouble(const double *In, Bits *Out) {
  Out[2 * threadIdx.x] = __half_as_ushort(__double2half(In[threadIdx.x]));
  Out[2 * threadIdx.x + 1] =
      __bfloat16_as_ushort(__double2bfloat16(In[threadIdx.x]));
}
KERNEL fromLong(const long long *In, Bits *Out) {
  long long A = In[threadIdx.x];
  unsigned long long U = A;
  __half Half[] = {__ll2half_rn(A),  __ll2half_rz(A),  __ll2half_rd(A),
                   __ll2half_ru(A),  __ull2half_rn(U), __ull2half_rz(U),
                   __ull2half_rd(U), __ull2half_ru(U)};
  __nv_bfloat16 Brain[] = {__ll2bfloat16_rn(A),  __ll2bfloat16_rz(A),
                           __ll2bfloat16_rd(A),  __ll2bfloat16_ru(A),
                           __ull2bfloat16_rn(U), __ull2bfloat16_rz(U),
                           __ull2bfloat16_rd(U), __ull2bfloat16_ru(U)};
  for (int K = 0; K < 8; ++K) {
    Out[16 * threadIdx.x + K] = __half_as_ushort(Half[K]);
    Out[16 * threadIdx.x + 8 + K] = __bfloat16_as_ushort(Brain[K]);
  }
}
KERNEL fromInt(const int *In, Bits *Out) {
  int A = In[threadIdx.x];
  unsigned U = A;
  __half Half[] = {__int2half_rn(A),  __int2half_rz(A),  __int2half_rd(A),
                   __int2half_ru(A),  __uint2half_rn(U), __uint2half_rz(U),
                   __uint2half_rd(U), __uint2half_ru(U)};
  __nv_bfloat16 Brain[] = {__int2bfloat16_rn(A),  __int2bfloat16_rz(A),
                           __int2bfloat16_rd(A),  __int2bfloat16_ru(A),
                           __uint2bfloat16_rn(U), __uint2bfloat16_rz(U),
                           __uint2bfloat16_rd(U), __uint2bfloat16_ru(U)};
  for (int K = 0; K < 8; ++K) {
    Out[16 * threadIdx.x + K] = __half_as_ushort(Half[K]);
    Out[16 * threadIdx.x + 8 + K] = __bfloat16_as_ushort(Brain[K]);
  }
}

/// To integers of all widths; narrow ones as they are in a register.
template <typename T, typename F>
__device__ void toIntegers(const Bits *In, long long *Out, F Convert) {
  Convert(as<Bits, T>(In[threadIdx.x]), Out + 10 * threadIdx.x);
}
KERNEL toIntegersF16(const Bits *In, long long *Out) {
  toIntegers<__half>(In, Out, [](__half A, long long *To) {
    *To++ = __half2char_rz(A);
    *To++ = __half2uchar_rz(A);
    *To++ = __half2short_rn(A);
    *To++ = __half2ushort_rd(A);
    *To++ = __half2int_rz(A);
    *To++ = __half2int_ru(A);
    *To++ = __half2uint_rn(A);
    *To++ = __half2ll_rz(A);
    *To++ = __half2ll_rd(A);
    *To++ = __half2ull_rz(A);
  });
}
KERNEL toIntegersBf16(const Bits *In, long long *Out) {
  toIntegers<__nv_bfloat16>(In, Out, [](__nv_bfloat16 A, long long *To) {
    *To++ = __bfloat162char_rz(A);
    *To++ = __bfloat162uchar_rz(A);
    *To++ = __bfloat162short_rn(A);
    *To++ = __bfloat162ushort_rd(A);
    *To++ = __bfloat162int_rz(A);
    *To++ = __bfloat162int_ru(A);
    *To++ = __bfloat162uint_rn(A);
    *To++ = __bfloat162ll_rz(A);
    *To++ = __bfloat162ll_rd(A);
    *To++ = __bfloat162ull_rz(A);
  });
}

/// Functions of the headers, most of them by way of float.
template <typename T> __device__ void functions(const Bits *In, Bits *Out) {
  T A = as<Bits, T>(In[threadIdx.x]);
  T Results[] = {hsqrt(A), hrsqrt(A), hrcp(A),         hexp(A),
                 hexp2(A), hexp10(A), hlog(A),         hlog2(A),
                 hsin(A),  hcos(A),   htanh_approx(A), __hdiv(A, T(3.f))};
  for (int K = 0; K < 12; ++K)
    Out[12 * threadIdx.x + K] = as<T, Bits>(Results[K]);
}
KERNEL functionsF16(const Bits *In, Bits *Out) { functions<__half>(In, Out); }
KERNEL functionsBf16(const Bits *In, Bits *Out) {
  functions<__nv_bfloat16>(In, Out);
}
