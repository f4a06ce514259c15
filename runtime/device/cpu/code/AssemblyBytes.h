// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX conversions from and to pairs of 8-bit floats (e4m3, e5m2) in inline
// assembly, as cuda_fp8.h has them.
#pragma once

#include "AssemblyHalves.h"

/// To the nearest, halfway to the even one; what is beyond Largest becomes it.
template <int MantissaBits, int Bias>
INLINE uint8_t toByte(float Value, uint8_t Largest) {
  if (Value != Value)
    return 0x7f;
  uint32_t Bits = __builtin_bit_cast(uint32_t, Value);
  int Exponent = static_cast<int>(Bits >> 23 & 255) - 127;
  Exponent = Exponent < 1 - Bias ? 1 - Bias : Exponent;
  // In units of the last place at this exponent.
  double Unit = __builtin_bit_cast(
      double, static_cast<uint64_t>(1023 + MantissaBits - Exponent) << 52);
  double Units =
      __builtin_nearbyint(__builtin_fabs(static_cast<double>(Value)) * Unit);
  double Code = Units + ((Exponent + Bias - 1) << MantissaBits);
  uint8_t Magnitude = Code < Largest ? static_cast<uint8_t>(Code) : Largest;
  return Magnitude | static_cast<uint8_t>(Bits >> 31 << 7);
}
INLINE uint8_t toByte_e4m3(float Value) { return toByte<3, 7>(Value, 0x7e); }
INLINE uint8_t toByte_e5m2(float Value) { return toByte<2, 15>(Value, 0x7b); }

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
    return static_cast<uint16_t>(toByte_##Ptx(High) << 8 | toByte_##Ptx(Low)); \
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
