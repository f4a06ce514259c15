// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic kernels of the CPU device's tests: libdevice functions (each a
// kernel of its own: out[i] = f(a[i], b[i])), integer intrinsics, rounding
// modes and conversions.
#include <cstdint>

#define UNARY(Name, Call)                                                      \
  extern "C" __global__ void unary_##Name(const double *A, double *Out,        \
                                          int N) {                             \
    int I = blockIdx.x * blockDim.x + threadIdx.x;                             \
    double X = A[I < N ? I : 0];                                               \
    float F = X;                                                               \
    (void)F;                                                                   \
    if (I < N)                                                                 \
      Out[I] = Call;                                                           \
  }
#define BOTH(Name)                                                             \
  UNARY(Name, Name(X))                                                         \
  UNARY(Name##f, Name##f(F))
#define BINARY(Name)                                                           \
  UNARY(Name, Name(X, X * 0.37 + 1.1))                                         \
  UNARY(Name##f, Name##f(F, (float)(X * 0.37 + 1.1)))
#include "Functions.def"
// Functions that the host's libm lacks.
UNARY(sinpi, sinpi(X))
UNARY(cospi, cospi(X))
UNARY(sinpif, sinpif(F))
UNARY(rsqrt, rsqrt(X))
UNARY(rcbrt, rcbrt(X))
UNARY(normcdf, normcdf(X))
UNARY(normcdfinv, normcdfinv(X))
UNARY(erfinv, erfinv(X))
UNARY(erfcinv, erfcinv(X))
UNARY(erfcx, erfcx(X))
UNARY(norm3d, norm3d(X, 2.0, -3.0))
UNARY(rnorm4d, rnorm4d(X, 2.0, -3.0, 1.0))
UNARY(i0, cyl_bessel_i0(X))
UNARY(i1, cyl_bessel_i1(X))
UNARY(fastSine, __sinf(F))
UNARY(fastExponential, __expf(F))
UNARY(fastPower, __powf(fabsf(F), 1.5f))

extern "C" __global__ void integers(const int *A, const int *B, int N,
                                    unsigned *Out) {
  int I = threadIdx.x;
  if (I >= N)
    return;
  int X = A[I], Y = B[I];
  unsigned *O = Out + I * 24;
  O[0] = __clz(X);
  O[1] = __popc(X);
  O[2] = __brev(X);
  O[3] = __ffs(X);
  O[4] = __byte_perm(X, Y, 0x7250);
  O[5] = __nvvm_prmt(X, Y, 0x9a3c); // with signs
  O[6] = __mulhi(X, Y);
  O[7] = __umulhi(X, Y);
  O[8] = __sad(X, Y, 3);
  O[9] = __usad(X, Y, 3);
  O[10] = __mul24(X, Y);
  O[11] = __umul24(X, Y);
  O[12] = __hadd(X, Y);
  O[13] = __rhadd(X, Y);
  O[14] = min(X, Y);
  O[15] = umax(X, Y);
  O[16] = __clzll((long long)X << 20);
  O[17] = __mul64hi((long long)X << 30, (long long)Y << 30);
  O[18] = __ffsll((long long)X << 7);
  O[19] = __dp4a(X, Y, 9);
  O[20] = __funnelshift_r(X, Y, 13);
  O[21] = __popcll((long long)X * Y);
  O[22] = abs(X);
  O[23] = __dp2a_lo(X, Y, 1);
}

extern "C" __global__ void rounding(const double *A, const double *B, int N,
                                    double *Out) {
  int I = threadIdx.x;
  if (I >= N)
    return;
  double X = A[I], Y = B[I];
  float F = X, G = Y;
  double *O = Out + I * 24;
  O[0] = __fadd_rn(F, G);
  O[1] = __fadd_rz(F, G);
  O[2] = __fadd_rd(F, G);
  O[3] = __fadd_ru(F, G);
  O[4] = __dmul_rz(X, Y);
  O[5] = __dmul_rd(X, Y);
  O[6] = __dmul_ru(X, Y);
  O[7] = __fdiv_rz(F, G);
  O[8] = __fsqrt_ru(fabsf(F));
  O[9] = __fmaf_rd(F, G, F);
  O[10] = __fma_rz(X, Y, X);
  O[11] = __drcp_ru(X);
  O[12] = __fsub_rd(F, G);
  O[13] = __dsub_ru(X, Y);
  O[14] = __double2float_rz(X);
  O[15] = __double2float_ru(X);
  O[16] = __ll2float_rd((long long)(X * 1e9));
  O[17] = __ull2double_rz((unsigned long long)(fabs(X) * 1e14));
  O[18] = __frsqrt_rn(fabsf(F));
  O[19] = __fdividef(F, G);
  O[20] = __saturatef(F);
  O[21] = fminf(F, G);
  O[22] = fmax(X, Y);
  O[23] = rsqrtf(fabsf(F));
}

extern "C" __global__ void conversions(const double *A, int N, long long *Out) {
  int I = threadIdx.x;
  if (I >= N)
    return;
  double X = A[I];
  float F = X;
  long long *O = Out + I * 12;
  O[0] = __float2int_rn(F);
  O[1] = __float2int_rz(F);
  O[2] = __float2int_rd(F);
  O[3] = __float2uint_ru(F);
  O[4] = __double2int_rn(X);
  O[5] = __double2uint_rz(X);
  O[6] = __double2ll_rd(X);
  O[7] = (long long)__double2ull_rn(X);
  O[8] = __float2ll_rz(F);
  O[9] = (long long)__float2ull_rz(F);
  O[10] = __double2hiint(X);
  O[11] = __double2loint(X);
}
