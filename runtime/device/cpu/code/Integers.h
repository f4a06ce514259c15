// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer intrinsics, bit manipulation, and moves between memory windows.
#pragma once

#include "Library.h"

// --- Byte permutation.

static inline __attribute__((always_inline)) uint32_t
permute(uint32_t A, uint32_t B, uint32_t Selector) {
  uint64_t Bytes = static_cast<uint64_t>(B) << 32 | A;
  uint32_t Result = 0;
  for (unsigned I = 0; I < 4; ++I) {
    uint32_t Select = Selector >> (4 * I);
    uint32_t Byte = static_cast<uint32_t>(Bytes >> (8 * (Select & 7))) & 0xff;
    if (Select & 8)
      Byte = Byte & 0x80 ? 0xff : 0;
    Result |= Byte << (8 * I);
  }
  return Result;
}
LIBRARY uint32_t __r3_nvvm_prmt(uint32_t A, uint32_t B, uint32_t Selector) {
  return permute(A, B, Selector);
}
// The forms with a mode take the two low bits of the selector.
static constexpr uint16_t PermuteForward[] = {0x3210, 0x4321, 0x5432, 0x6543};
static constexpr uint16_t PermuteBackward[] = {0x5670, 0x6701, 0x7012, 0x0123};
LIBRARY uint32_t __r3_nvvm_prmt_f4e(uint32_t A, uint32_t B, uint32_t Mode) {
  return permute(A, B, PermuteForward[Mode & 3]);
}
LIBRARY uint32_t __r3_nvvm_prmt_b4e(uint32_t A, uint32_t B, uint32_t Mode) {
  return permute(A, B, PermuteBackward[Mode & 3]);
}
LIBRARY uint32_t __r3_nvvm_prmt_rc8(uint32_t A, uint32_t Mode) {
  return permute(A, 0, (Mode & 3) * 0x1111);
}
LIBRARY uint32_t __r3_nvvm_prmt_rc16(uint32_t A, uint32_t Mode) {
  return permute(A, 0, Mode & 1 ? 0x3232 : 0x1010);
}

// --- Products and sums.

LIBRARY int32_t __r3_nvvm_mulhi_i(int32_t A, int32_t B) {
  return static_cast<int32_t>(static_cast<int64_t>(A) * B >> 32);
}
LIBRARY uint32_t __r3_nvvm_mulhi_ui(uint32_t A, uint32_t B) {
  return static_cast<uint32_t>(static_cast<uint64_t>(A) * B >> 32);
}
LIBRARY int64_t __r3_nvvm_mulhi_ll(int64_t A, int64_t B) {
  return static_cast<int64_t>(static_cast<__int128>(A) * B >> 64);
}
LIBRARY uint64_t __r3_nvvm_mulhi_ull(uint64_t A, uint64_t B) {
  return static_cast<uint64_t>(static_cast<unsigned __int128>(A) * B >> 64);
}
LIBRARY int16_t __r3_nvvm_mulhi_s(int16_t A, int16_t B) {
  return static_cast<int16_t>(A * B >> 16);
}
LIBRARY uint16_t __r3_nvvm_mulhi_us(uint16_t A, uint16_t B) {
  return static_cast<uint16_t>(static_cast<uint32_t>(A) * B >> 16);
}
LIBRARY int32_t __r3_nvvm_mul24_i(int32_t A, int32_t B) {
  return static_cast<int32_t>(static_cast<uint32_t>(A << 8 >> 8) *
                              static_cast<uint32_t>(B << 8 >> 8));
}
LIBRARY uint32_t __r3_nvvm_mul24_ui(uint32_t A, uint32_t B) {
  return (A & 0xffffff) * (B & 0xffffff);
}

#define SAD(Name, Type, Wide)                                                  \
  LIBRARY Type __r3_nvvm_sad_##Name(Type A, Type B, Type C) {                  \
    Wide Difference = A > B ? Wide(A) - Wide(B) : Wide(B) - Wide(A);           \
    return static_cast<Type>(Wide(C) + Difference);                            \
  }
SAD(i, int32_t, uint32_t)
SAD(ui, uint32_t, uint32_t)
SAD(s, int16_t, uint32_t)
SAD(us, uint16_t, uint32_t)
SAD(ll, int64_t, uint64_t)
SAD(ull, uint64_t, uint64_t)

template <typename Left, typename Right>
static inline __attribute__((always_inline)) int32_t dot4(uint32_t A,
                                                          uint32_t B,
                                                          int32_t C) {
  uint32_t Sum = static_cast<uint32_t>(C);
  for (unsigned I = 0; I < 32; I += 8)
    Sum += static_cast<uint32_t>(static_cast<Left>(A >> I) *
                                 static_cast<Right>(B >> I));
  return static_cast<int32_t>(Sum);
}
/// Two 16-bit values of A with the low or the high two bytes of B.
template <typename Left, typename Right>
static inline __attribute__((always_inline)) int32_t dot2(uint32_t A,
                                                          uint32_t B, bool High,
                                                          int32_t C) {
  uint32_t Bytes = High ? B >> 16 : B;
  return static_cast<int32_t>(
      static_cast<uint32_t>(C) +
      static_cast<uint32_t>(static_cast<Left>(A) * static_cast<Right>(Bytes)) +
      static_cast<uint32_t>(static_cast<Left>(A >> 16) *
                            static_cast<Right>(Bytes >> 8)));
}
#define DOT(Name, PtxName, L4, R4, L2)                                         \
  LIBRARY int32_t __r3_nvvm_idp4a_##Name(uint32_t A, uint32_t B, int32_t C) {  \
    return dot4<L4, R4>(A, B, C);                                              \
  }                                                                            \
  LIBRARY int32_t __r3_asm_dp4a_##PtxName(uint32_t A, uint32_t B, int32_t C) { \
    return dot4<L4, R4>(A, B, C);                                              \
  }                                                                            \
  LIBRARY int32_t __r3_nvvm_idp2a_##Name(uint32_t A, uint32_t B, bool High,    \
                                         int32_t C) {                          \
    return dot2<L2, R4>(A, B, High, C);                                        \
  }                                                                            \
  LIBRARY int32_t __r3_asm_dp2a_lo_##PtxName(uint32_t A, uint32_t B,           \
                                             int32_t C) {                      \
    return dot2<L2, R4>(A, B, false, C);                                       \
  }                                                                            \
  LIBRARY int32_t __r3_asm_dp2a_hi_##PtxName(uint32_t A, uint32_t B,           \
                                             int32_t C) {                      \
    return dot2<L2, R4>(A, B, true, C);                                        \
  }
DOT(s_s, s32_s32, int8_t, int8_t, int16_t)
DOT(s_u, s32_u32, int8_t, uint8_t, int16_t)
DOT(u_s, u32_s32, uint8_t, int8_t, uint16_t)
DOT(u_u, u32_u32, uint8_t, uint8_t, uint16_t)

// --- Shifts and fields.

LIBRARY uint32_t __r3_nvvm_fshl_clamp(uint32_t High, uint32_t Low,
                                      uint32_t Amount) {
  uint64_t Both = static_cast<uint64_t>(High) << 32 | Low;
  return static_cast<uint32_t>(Both << (Amount > 32 ? 32 : Amount) >> 32);
}
LIBRARY uint32_t __r3_nvvm_fshr_clamp(uint32_t High, uint32_t Low,
                                      uint32_t Amount) {
  uint64_t Both = static_cast<uint64_t>(High) << 32 | Low;
  return static_cast<uint32_t>(Both >> (Amount > 32 ? 32 : Amount));
}
LIBRARY uint32_t __r3_asm_shf_l_wrap_b32(uint32_t Low, uint32_t High,
                                         uint32_t Amount) {
  return __r3_nvvm_fshl_clamp(High, Low, Amount & 31);
}
LIBRARY uint32_t __r3_asm_shf_l_clamp_b32(uint32_t Low, uint32_t High,
                                          uint32_t Amount) {
  return __r3_nvvm_fshl_clamp(High, Low, Amount);
}
LIBRARY uint32_t __r3_asm_shf_r_wrap_b32(uint32_t Low, uint32_t High,
                                         uint32_t Amount) {
  return __r3_nvvm_fshr_clamp(High, Low, Amount & 31);
}
LIBRARY uint32_t __r3_asm_shf_r_clamp_b32(uint32_t Low, uint32_t High,
                                          uint32_t Amount) {
  return __r3_nvvm_fshr_clamp(High, Low, Amount);
}
LIBRARY uint32_t __r3_nvvm_bmsk_clamp(uint32_t First, uint32_t Width) {
  if (First >= 32 || !Width)
    return 0;
  uint32_t Ones = Width >= 32 ? ~0u : (1u << Width) - 1;
  return Ones << First;
}
LIBRARY uint32_t __r3_nvvm_bmsk_wrap(uint32_t First, uint32_t Width) {
  return __r3_nvvm_bmsk_clamp(First & 31, Width & 31);
}
LIBRARY int32_t __r3_nvvm_sext_clamp(int32_t Value, uint32_t Width) {
  if (!Width)
    return 0;
  return Width >= 32 ? Value
                     : static_cast<int32_t>(static_cast<uint32_t>(Value)
                                            << (32 - Width)) >>
                           (32 - Width);
}
LIBRARY int32_t __r3_nvvm_sext_wrap(int32_t Value, uint32_t Width) {
  return __r3_nvvm_sext_clamp(Value, Width & 31);
}
LIBRARY uint32_t __r3_nvvm_zext_clamp(uint32_t Value, uint32_t Width) {
  return Width >= 32 ? Value : Value & ((1u << Width) - 1);
}
LIBRARY uint32_t __r3_nvvm_zext_wrap(uint32_t Value, uint32_t Width) {
  return __r3_nvvm_zext_clamp(Value, Width & 31);
}

/// The highest bit that differs from the sign; shifted: counted from above.
template <typename Type>
static inline __attribute__((always_inline)) uint32_t find(Type Value,
                                                           bool Shifted) {
  if (!Value)
    return ~0u;
  unsigned Zeros =
      sizeof(Type) == 8 ? __builtin_clzll(Value) : __builtin_clz(Value);
  return Shifted ? Zeros : sizeof(Type) * 8 - 1 - Zeros;
}
#define FIND(Suffix, Signed, Unsigned)                                         \
  LIBRARY uint32_t __r3_nvvm_flo_u_##Suffix(Unsigned Value, bool Shifted) {    \
    return find(Value, Shifted);                                               \
  }                                                                            \
  LIBRARY uint32_t __r3_nvvm_flo_s_##Suffix(Signed Value, bool Shifted) {      \
    return find(static_cast<Unsigned>(Value < 0 ? ~Value : Value), Shifted);   \
  }
FIND(i32, int32_t, uint32_t)
FIND(i64, int64_t, uint64_t)

/// The Offset-th set bit from Base on, upwards or downwards.
LIBRARY uint32_t __r3_nvvm_fns(uint32_t Mask, uint32_t Base, int32_t Offset) {
  if (!Offset)
    return Base < 32 && (Mask >> Base & 1) ? Base : ~0u;
  int32_t Step = Offset > 0 ? 1 : -1;
  int32_t Left = Offset > 0 ? Offset : -Offset;
  for (int32_t At = static_cast<int32_t>(Base); At >= 0 && At < 32; At += Step)
    if ((Mask >> At & 1) && --Left == 0)
      return static_cast<uint32_t>(At);
  return ~0u;
}

LIBRARY int32_t __nv_ffs(int32_t Value) { return __builtin_ffs(Value); }

// --- Loads and prefetches that are ordinary ones here.

#define LOAD_UNIFORM(Kind, Suffix, Type)                                       \
  LIBRARY Type __r3_nvvm_ldu_global_##Kind##_##Suffix##_p0(const Type *From,   \
                                                           uint32_t) {         \
    return *From;                                                              \
  }
LOAD_UNIFORM(i, i8, int8_t)
LOAD_UNIFORM(i, i16, int16_t)
LOAD_UNIFORM(i, i32, int32_t)
LOAD_UNIFORM(i, i64, int64_t)
LOAD_UNIFORM(f, f32, float)
LOAD_UNIFORM(f, f64, double)
#define PREFETCH(Name)                                                         \
  LIBRARY void __r3_nvvm_##Name(const void *) {}
PREFETCH(prefetch_L1)
PREFETCH(prefetch_L2)
PREFETCH(prefetch_global_L1)
PREFETCH(prefetch_global_L2)
PREFETCH(prefetch_global_L2_evict_last)
PREFETCH(prefetch_global_L2_evict_normal)
PREFETCH(prefetch_local_L1)
PREFETCH(prefetch_local_L2)
PREFETCH(prefetchu_L1)
