// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels with single PTX instructions, and what each gives.
#define KERNEL extern "C" __global__ void
using u32 = unsigned;
using u64 = unsigned long long;

/// An instruction's result.
#define ONE32(Text, X)                                                         \
  ({                                                                           \
    u32 Out;                                                                   \
    asm(Text " %0, %1;" : "=r"(Out) : "r"(X));                                 \
    Out;                                                                       \
  })
#define TWO32(Text, X, Y)                                                      \
  ({                                                                           \
    u32 Out;                                                                   \
    asm(Text " %0, %1, %2;" : "=r"(Out) : "r"(X), "r"(Y));                     \
    Out;                                                                       \
  })
#define THREE32(Text, X, Y, Z)                                                 \
  ({                                                                           \
    u32 Out;                                                                   \
    asm(Text " %0, %1, %2, %3;" : "=r"(Out) : "r"(X), "r"(Y), "r"(Z));         \
    Out;                                                                       \
  })

/// Sums, differences and products of 64 bits in halves; carries go from one
/// statement and function to the next.
__device__ __noinline__ u32 upperSum(u32 A, u32 B) {
  u32 Out;
  asm volatile("addc.u32 %0, %1, %2;" : "=r"(Out) : "r"(A), "r"(B));
  return Out;
}
KERNEL carries(const u64 *In, u64 *Out) {
  u64 A = In[2 * threadIdx.x], B = In[2 * threadIdx.x + 1];
  u32 AL = A, AH = A >> 32, BL = B, BH = B >> 32, Low, High, Over;
  asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(Low) : "r"(AL), "r"(BL));
  High = upperSum(AH, BH);
  Out[4 * threadIdx.x] = (u64)High << 32 | Low;
  asm("{ sub.cc.u32 %0, %2, %4; subc.u32 %1, %3, %5; }"
      : "=r"(Low), "=r"(High)
      : "r"(AL), "r"(AH), "r"(BL), "r"(BH));
  Out[4 * threadIdx.x + 1] = (u64)High << 32 | Low;
  // AL * BL + (AL, AH)
  asm("{ mad.lo.cc.u32 %0, %2, %4, %2; madc.hi.u32 %1, %2, %4, %3; }"
      : "=r"(Low), "=r"(High)
      : "r"(AL), "r"(AH), "r"(BL));
  Out[4 * threadIdx.x + 2] = (u64)High << 32 | Low;
  // The carry of a sum of 128 bits.
  asm("{ .reg .u64 t; add.cc.u64 t, %1, %2; addc.cc.u64 t, %1, %2;"
      "  addc.u32 %0, 0, 0; }"
      : "=r"(Over)
      : "l"(A), "l"(B));
  Out[4 * threadIdx.x + 3] = Over;
}

KERNEL fields(const u32 *In, u32 *Out) {
  u32 A = In[0], B = In[1];
  *Out++ = THREE32("bfe.u32", A, 4, 8);
  *Out++ = THREE32("bfe.s32", A, 4, 8);
  *Out++ = THREE32("bfe.s32", A, 28, 8);
  *Out++ = THREE32("bfe.s32", A, 40, 8);
  *Out++ = THREE32("bfe.u32", A, 40, 8);
  *Out++ = THREE32("bfe.s32", A, 4, 0);
  *Out++ = THREE32("bfe.u32", A, 0, 32);
  u64 Wide = (u64)A << 32 | B, Result;
  asm("bfe.s64 %0, %1, 36, 28;" : "=l"(Result) : "l"(Wide));
  *Out++ = Result;
  *Out++ = Result >> 32;
  asm("bfi.b64 %0, %1, %2, 16, 32;" : "=l"(Result) : "l"(Wide), "l"(0ull));
  *Out++ = Result;
  *Out++ = Result >> 32;
  *Out++ = ONE32("bfind.u32", A);
  *Out++ = ONE32("bfind.s32", A);
  *Out++ = ONE32("bfind.s32", -1);
  *Out++ = ONE32("bfind.shiftamt.u32", B);
  *Out++ = TWO32("bmsk.clamp.b32", 4, 6);
  *Out++ = TWO32("bmsk.wrap.b32", 36, 38);
  *Out++ = TWO32("szext.clamp.s32", A, 8);
  *Out++ = TWO32("szext.clamp.u32", A, 8);
  *Out++ = THREE32("prmt.b32", A, B, 0x0f35);
  *Out++ = THREE32("prmt.b32.f4e", A, B, 1);
  *Out++ = THREE32("fns.b32", A, 0, 3);
  u32 Chosen;
  asm("lop3.b32 %0, %1, %2, %3, 0xCA;" // A ? B : C
      : "=r"(Chosen)
      : "r"(A), "r"(B), "r"(0x0f0f0f0f));
  *Out++ = Chosen;
  *Out++ = THREE32("sad.u32", A, B, 5);
  *Out++ = THREE32("sad.s32", A, B, 5);
  *Out++ = TWO32("add.sat.s32", 0x7ffffff0, 0x100);
  *Out++ = TWO32("sub.sat.s32", 0x80000010, 0x100);
  *Out++ = TWO32("mul24.lo.s32", 0xff800001, 3);
  *Out++ = THREE32("mad.hi.u32", A, B, 7);
  *Out++ = ONE32("cvt.sat.u8.s32", -5);
  *Out++ = ONE32("cvt.sat.u8.s32", 300);
  *Out++ = ONE32("cvt.sat.s8.s32", -300);
  *Out++ = ONE32("cvt.s32.s8", 0x1ff);
  *Out++ = THREE32("slct.u32.s32", 1, 2, -3);
  *Out++ = TWO32("copysign.f32", 0x80000000, 0x3f800000);
}

KERNEL comparisons(const float *In, u32 *Out) {
  float A = In[0], B = In[1], NaN = In[2];
  auto Set = [&](auto Number) { *Out++ = Number; };
  u32 P, Q;
  asm("{ .reg .pred p, q, r; setp.eq.f32 r, %2, %2;"
      "  setp.lt.and.f32 p|q, %2, %3, r;"
      "  selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(P), "=r"(Q)
      : "f"(A), "f"(B));
  Set(P), Set(Q);
  asm("{ .reg .pred p, q, r; setp.eq.f32 r, %2, %2;"
      "  setp.lt.or.f32 p|q, %2, %3, !r;"
      "  selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(P), "=r"(Q)
      : "f"(B), "f"(A));
  Set(P), Set(Q);
  asm("{ .reg .pred r; setp.num.f32 r, %1, %1;"
      "  set.ge.xor.u32.f32 %0, %1, %2, r; }"
      : "=r"(P)
      : "f"(B), "f"(A));
  Set(P);
  asm("set.neu.f32.f32 %0, %1, %2;" : "=r"(P) : "f"(A), "f"(NaN));
  Set(P);
  asm("set.lo.u32.u32 %0, %1, %2;" : "=r"(P) : "r"(1), "r"(-1));
  Set(P);
  asm("set.lt.u32.s32 %0, %1, %2;" : "=r"(P) : "r"(1), "r"(-1));
  Set(P);
  asm("{ .reg .pred p, q; testp.subnormal.f32 p, %2; testp.normal.f32 q, %2;"
      "  selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(P), "=r"(Q)
      : "f"(1e-40f));
  Set(P), Set(Q);
  // Halves: 1 and 2 with 2 and NaN.
  asm("{ .reg .pred p, q; setp.lt.f16x2 p|q, %2, %3;"
      "  selp.u32 %0, 1, 0, p; selp.u32 %1, 1, 0, q; }"
      : "=r"(P), "=r"(Q)
      : "r"(0x40003c00), "r"(0x7fff4000));
  Set(P), Set(Q);
  asm("set.ltu.f16x2.f16x2 %0, %1, %2;"
      : "=r"(P)
      : "r"(0x40003c00), "r"(0x7fff4000));
  Set(P);
  asm("set.lt.u32.f16x2 %0, %1, %2;"
      : "=r"(P)
      : "r"(0x40003c00), "r"(0x7fff4000));
  Set(P);
}

/// .ftz and .sat, results as bits.
KERNEL modifiers(const u32 *In, u32 *Out) {
  u32 Tiny = In[0], Smallest = In[1], NaN = In[2]; // subnormal, normal
  float Result, A = __int_as_float(Smallest), Half = 0.5f;
  float Sub = __int_as_float(Tiny), Not = __int_as_float(NaN);
  auto Set = [&](float Value) { *Out++ = __float_as_int(Value); };
#define FLOATS(Text, X, Y)                                                     \
  asm(Text " %0, %1, %2;" : "=f"(Result) : "f"(X), "f"(Y));                    \
  Set(Result)
  FLOATS("mul.f32", A, Half);
  FLOATS("mul.ftz.f32", A, Half);
  FLOATS("mul.ftz.f32", -A, Half);
  FLOATS("add.ftz.f32", Sub, 0.f);
  FLOATS("add.ftz.f32", A, Sub);
  FLOATS("add.sat.f32", 0.75f, 0.75f);
  FLOATS("sub.rn.sat.f32", 0.25f, 0.75f);
  FLOATS("mul.ftz.sat.f32", Not, 0.75f);
  FLOATS("add.rz.f32", 1.f, 0x1.8p-24f);
  FLOATS("add.rp.f32", 1.f, 0x1p-40f);
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(Result) : "f"(Sub));
  Set(Result);
  asm("cvt.ftz.f64.f32 %0, %1;"
      : "=d"(*reinterpret_cast<double *>(Out))
      : "f"(Sub));
  Out += 2;
  asm("{ .reg .pred p; setp.gt.ftz.f32 p, %1, 0f00000000;"
      "  selp.u32 %0, 1, 0, p; }"
      : "=r"(*Out++)
      : "f"(Sub));
  u32 Pair;
  asm("add.ftz.f16x2 %0, %1, %2;" : "=r"(Pair) : "r"(0x00013c00), "r"(0));
  *Out++ = Pair;
  asm("ex2.approx.ftz.bf16x2 %0, %1;" : "=r"(Pair) : "r"(0xc3010040));
  *Out++ = Pair; // 2^-129 and 2 to a subnormal
  asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(Pair) : "f"(-1.f), "f"(2.f));
  *Out++ = Pair;
}

/// Warp operations in inline assembly; one block of 64 threads.
KERNEL lanes(u32 *Out) {
  __shared__ int Shared;
  u32 I = threadIdx.x, R, P;
  u32 *To = Out + 12 * I;
  asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff;"
               "  selp.u32 %1, 1, 0, p; }"
               : "=r"(R), "=r"(P));
  *To++ = R, *To++ = P;
  asm volatile("redux.sync.max.s32 %0, %1, 0xffffffff;" : "=r"(R) : "r"(-I));
  *To++ = R;
  asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(R) : "r"(I + 5));
  *To++ = R;
  asm volatile("{ .reg .pred p; match.all.sync.b32 %0|p, %2, 0xffffffff;"
               "  selp.u32 %1, 1, 0, p; }"
               : "=r"(R), "=r"(P)
               : "r"(I / 32));
  *To++ = R, *To++ = P;
  asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 40;"
               "  barrier.cta.red.popc.aligned.u32 %0, 1, p; }"
               : "=r"(R)
               : "r"(I));
  *To++ = R;
  asm volatile("{ .reg .pred p, q; setp.lt.u32 p, %1, 40;"
               "  bar.red.and.pred q, 2, 64, !p; selp.u32 %0, 1, 0, q; }"
               : "=r"(R)
               : "r"(I));
  *To++ = R;
  asm volatile("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(R)
               : "l"(&Shared));
  *To++ = R;
  asm volatile("{ .reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p; }"
               : "=r"(R)
               : "l"(Out));
  *To++ = R;
  if (I % 3 == 0)
    asm volatile("activemask.b32 %0;" : "=r"(R));
  else
    asm volatile("activemask.b32 %0;" : "=r"(R));
  *To++ = R;
  asm volatile("atom.inc.u32 %0, [%1], 9;" : "=r"(R) : "l"(Out + 12 * 64));
  *To++ = R;
}
