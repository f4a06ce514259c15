// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX conversions from and to pairs of 8-bit floats (e4m3, e5m2) in inline
// assembly, as cuda_fp8.h has them.
#pragma once

#include "AssemblyHalves.h"

/// Exact: as bits of an f16.
INLINE uint16_t halfOf_e5m2(uint8_t Byte) {
  return (Byte & 0x7f) > 0x7c ? 0x7fff : static_cast<uint16_t>(Byte << 8);
}
INLINE uint16_t halfOf_e4m3(uint8_t Byte) {
  if ((Byte & 0x7f) == 0x7f)
    return 0x7fff;
  uint16_t SmallerBy256 = static_cast<uint16_t>((Byte & 0x7f) << 7);
  return bitsOf_f16(valueOf_f16(SmallerBy256) * 256) |
         static_cast<uint16_t>((Byte & 0x80) << 8);
}

#define ASM_BYTES(Ptx)                                                         \
  LIBRARY uint16_t __r3_asm_cvt_rn_satfinite_##Ptx##x2_f32(float High,         \
                                                           float Low) {        \
    return static_cast<uint16_t>(roundedByte<Format_##Ptx>(High) << 8 |        \
                                 roundedByte<Format_##Ptx>(Low));              \
  }                                                                            \
  LIBRARY uint16_t __r3_asm_cvt_rn_satfinite_##Ptx##x2_f16x2(uint32_t A) {     \
    return __r3_asm_cvt_rn_satfinite_##Ptx##x2_f32(valueOf_f16(high(A)),       \
                                                   valueOf_f16(low(A)));       \
  }                                                                            \
  LIBRARY uint32_t __r3_asm_cvt_rn_f16x2_##Ptx##x2(uint16_t A) {               \
    return pair(halfOf_##Ptx(static_cast<uint8_t>(A)),                         \
                halfOf_##Ptx(static_cast<uint8_t>(A >> 8)));                   \
  }
ASM_BYTES(e4m3)
ASM_BYTES(e5m2)
