// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX integer instructions in inline assembly beyond plain arithmetic
// (AssemblyNumbers.h): sums with carries, saturating ones, fields of bits,
// permutations.
#pragma once

#include "AssemblyNumbers.h"
#include "Integers.h"

// --- Carries: of the thread, as PTX's condition code register.

/// A + B + Carry or A - B - Carry; the carry goes on where IsKept.
template <typename Type>
static inline __attribute__((always_inline)) Type addCarried(Type A, Type B,
                                                             bool Carry,
                                                             bool IsKept) {
  unsigned __int128 Sum = static_cast<unsigned __int128>(A) + B + Carry;
  if (IsKept)
    __r3_context()->Carry = Sum >> (8 * sizeof(Type)) & 1;
  return static_cast<Type>(Sum);
}
template <typename Type>
static inline __attribute__((always_inline)) Type
subtractCarried(Type A, Type B, bool Carry, bool IsKept) {
  unsigned __int128 Difference = static_cast<unsigned __int128>(A) - B - Carry;
  if (IsKept)
    __r3_context()->Carry = Difference >> (8 * sizeof(Type)) & 1;
  return static_cast<Type>(Difference);
}
/// In: whether the carry comes in; Out: "_cc" or nothing.
#define ASM_CARRIED(Ptx, Type, Suffix, In, Out, IsKept)                        \
  ASM_TWO(add##Suffix##Out##_##Ptx, Type, Type,                                \
          addCarried<Type>(A, B, In, IsKept))                                  \
  ASM_TWO(sub##Suffix##Out##_##Ptx, Type, Type,                                \
          subtractCarried<Type>(A, B, In, IsKept))                             \
  ASM_THREE(mad##Suffix##_lo##Out##_##Ptx, Type, Type,                         \
            addCarried<Type>(__r3_asm_mul_lo_##Ptx(A, B), C, In, IsKept))      \
  ASM_THREE(mad##Suffix##_hi##Out##_##Ptx, Type, Type,                         \
            addCarried<Type>(static_cast<Type>(__r3_asm_mul_hi_##Ptx(A, B)),   \
                             C, In, IsKept))
#define CARRY (__r3_context()->Carry != 0)
#define ASM_CARRIES(Ptx, Type)                                                 \
  ASM_CARRIED(Ptx, Type, , false, _cc, true)                                   \
  ASM_CARRIED(Ptx, Type, c, CARRY, _cc, true)                                  \
  ASM_CARRIED(Ptx, Type, c, CARRY, , false)                                    \
  ASM_THREE(mad_hi_##Ptx, Type, Type,                                          \
            static_cast<Type>(__r3_asm_mul_hi_##Ptx(A, B)) + C)
ASM_CARRIES(u32, uint32_t)
ASM_CARRIES(s32, uint32_t)
ASM_CARRIES(u64, uint64_t)
ASM_CARRIES(s64, uint64_t)

// --- Saturating, absolute differences, 24 bits.

ASM_TWO(add_sat_s32, int32_t, int32_t,
        saturateTo<int32_t>(static_cast<int64_t>(A) + B))
ASM_TWO(sub_sat_s32, int32_t, int32_t,
        saturateTo<int32_t>(static_cast<int64_t>(A) - B))
ASM_THREE(mad_hi_sat_s32, int32_t, int32_t,
          saturateTo<int32_t>(static_cast<int64_t>(__r3_asm_mul_hi_s32(A, B)) +
                              C))
ASM_THREE(sad_u16, uint16_t, uint16_t, C + (A > B ? A - B : B - A))
ASM_THREE(sad_s16, int16_t, int16_t, C + (A > B ? A - B : B - A))
ASM_THREE(sad_u32, uint32_t, uint32_t, __r3_nvvm_sad_ui(A, B, C))
ASM_THREE(sad_s32, int32_t, int32_t, __r3_nvvm_sad_i(A, B, C))
ASM_THREE(sad_u64, uint64_t, uint64_t, __r3_nvvm_sad_ull(A, B, C))
ASM_THREE(sad_s64, int64_t, int64_t, __r3_nvvm_sad_ll(A, B, C))
ASM_TWO(mul24_lo_u32, uint32_t, uint32_t, __r3_nvvm_mul24_ui(A, B))
ASM_TWO(mul24_lo_s32, int32_t, int32_t, __r3_nvvm_mul24_i(A, B))
ASM_THREE(mad24_lo_u32, uint32_t, uint32_t, __r3_nvvm_mul24_ui(A, B) + C)
ASM_THREE(mad24_lo_s32, uint32_t, uint32_t,
          static_cast<uint32_t>(__r3_nvvm_mul24_i(static_cast<int32_t>(A),
                                                  static_cast<int32_t>(B))) +
              C)

// --- Fields of bits.

/// Width bits of Value from First on, both counted modulo 256. Above them, and
/// above Value, a signed field goes on with its last bit in Value.
template <typename Type>
static inline __attribute__((always_inline)) Type extractField(Type Value,
                                                               uint32_t First,
                                                               uint32_t Width) {
  constexpr uint32_t Bits = 8 * sizeof(Type);
  constexpr bool IsSigned = static_cast<Type>(-1) < 0;
  First &= 255;
  Width &= 255;
  if (!Width)
    return 0;
  auto Wide = static_cast<uint64_t>(Value);
  uint32_t Last = First + Width - 1 < Bits ? First + Width - 1 : Bits - 1;
  bool IsNegative = IsSigned && (Wide >> Last & 1);
  if (First >= Bits)
    return IsNegative ? static_cast<Type>(-1) : 0;
  uint64_t Ones = ~0ull >> (63 - (Last - First));
  uint64_t Field = Wide >> First & Ones;
  return static_cast<Type>(IsNegative ? Field | ~Ones : Field);
}
#define ASM_FIELD(Ptx, Type)                                                   \
  LIBRARY Type __r3_asm_bfe_##Ptx(Type A, uint32_t First, uint32_t Width) {    \
    return extractField(A, First, Width);                                      \
  }
ASM_FIELD(u32, uint32_t)
ASM_FIELD(s32, int32_t)
ASM_FIELD(u64, uint64_t)
ASM_FIELD(s64, int64_t)

#define ASM_INSERT(Ptx, Type)                                                  \
  LIBRARY Type __r3_asm_bfi_##Ptx(Type Inserted, Type Into, uint32_t First,    \
                                  uint32_t Width) {                            \
    constexpr uint32_t Bits = 8 * sizeof(Type);                                \
    First &= 255;                                                              \
    Width &= 255;                                                              \
    if (First >= Bits || !Width)                                               \
      return Into;                                                             \
    Type Ones = Width >= Bits ? ~Type(0) : (Type(1) << Width) - 1;             \
    return (Into & ~(Ones << First)) | (Inserted & Ones) << First;             \
  }
ASM_INSERT(b32, uint32_t)
ASM_INSERT(b64, uint64_t)

ASM_ONE(bfind_u32, uint32_t, uint32_t, __r3_nvvm_flo_u_i32(A, false))
ASM_ONE(bfind_s32, uint32_t, int32_t, __r3_nvvm_flo_s_i32(A, false))
ASM_ONE(bfind_u64, uint32_t, uint64_t, __r3_nvvm_flo_u_i64(A, false))
ASM_ONE(bfind_s64, uint32_t, int64_t, __r3_nvvm_flo_s_i64(A, false))
ASM_ONE(bfind_shiftamt_u32, uint32_t, uint32_t, __r3_nvvm_flo_u_i32(A, true))
ASM_ONE(bfind_shiftamt_s32, uint32_t, int32_t, __r3_nvvm_flo_s_i32(A, true))
ASM_ONE(bfind_shiftamt_u64, uint32_t, uint64_t, __r3_nvvm_flo_u_i64(A, true))
ASM_ONE(bfind_shiftamt_s64, uint32_t, int64_t, __r3_nvvm_flo_s_i64(A, true))
ASM_TWO(bmsk_clamp_b32, uint32_t, uint32_t, __r3_nvvm_bmsk_clamp(A, B))
ASM_TWO(bmsk_wrap_b32, uint32_t, uint32_t, __r3_nvvm_bmsk_wrap(A, B))
ASM_TWO(szext_clamp_u32, uint32_t, uint32_t, __r3_nvvm_zext_clamp(A, B))
ASM_TWO(szext_wrap_u32, uint32_t, uint32_t, __r3_nvvm_zext_wrap(A, B))
LIBRARY int32_t __r3_asm_szext_clamp_s32(int32_t Value, uint32_t Width) {
  return __r3_nvvm_sext_clamp(Value, Width);
}
LIBRARY int32_t __r3_asm_szext_wrap_s32(int32_t Value, uint32_t Width) {
  return __r3_nvvm_sext_wrap(Value, Width);
}
LIBRARY uint32_t __r3_asm_fns_b32(uint32_t Mask, uint32_t Base,
                                  int32_t Offset) {
  return __r3_nvvm_fns(Mask, Base, Offset);
}

// --- Permutations and choices.

ASM_THREE(prmt_b32, uint32_t, uint32_t, permute(A, B, C))
ASM_THREE(prmt_b32_f4e, uint32_t, uint32_t, __r3_nvvm_prmt_f4e(A, B, C))
ASM_THREE(prmt_b32_b4e, uint32_t, uint32_t, __r3_nvvm_prmt_b4e(A, B, C))
LIBRARY uint32_t __r3_asm_prmt_b32_rc8(uint32_t A, uint32_t, uint32_t Mode) {
  return __r3_nvvm_prmt_rc8(A, Mode);
}
LIBRARY uint32_t __r3_asm_prmt_b32_rc16(uint32_t A, uint32_t, uint32_t Mode) {
  return __r3_nvvm_prmt_rc16(A, Mode);
}
/// Bit 4a + 2b + c of Table is the result for bits a, b, c.
LIBRARY uint32_t __r3_asm_lop3_b32(uint32_t A, uint32_t B, uint32_t C,
                                   uint32_t Table) {
  uint32_t Result = 0;
  for (uint32_t Row = 0; Row < 8; ++Row)
    if (Table >> Row & 1)
      Result |= (Row & 4 ? A : ~A) & (Row & 2 ? B : ~B) & (Row & 1 ? C : ~C);
  return Result;
}
