// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scoped atomics that clang emits as intrinsics. Others are LLVM's atomic
// instructions, which the host has too. All scopes are the system's.
#pragma once

#include "Library.h"

#define SCOPED(Operation, Kind, Suffix, Type, Body)                            \
  LIBRARY Type __r3_nvvm_atomic_##Operation##_gen_##Kind##_cta_##Suffix##_p0(  \
      Type *Where, Type Value){Body} LIBRARY Type                              \
      __r3_nvvm_atomic_##Operation##_gen_##Kind##_sys_##Suffix##_p0(           \
          Type *Where, Type Value) {                                           \
    Body                                                                       \
  }
#define INTEGER(Operation, Builtin)                                            \
  SCOPED(Operation, i, i32, int32_t,                                           \
         return Builtin(Where, Value, __ATOMIC_SEQ_CST);)                      \
  SCOPED(Operation, i, i64, int64_t,                                           \
         return Builtin(Where, Value, __ATOMIC_SEQ_CST);)
INTEGER(add, __atomic_fetch_add)
INTEGER(and, __atomic_fetch_and)
INTEGER(or, __atomic_fetch_or)
INTEGER(xor, __atomic_fetch_xor)
INTEGER(min, __atomic_fetch_min)
INTEGER(max, __atomic_fetch_max)
INTEGER(exch, __atomic_exchange_n)
SCOPED(add, f, f32, float,
       return __atomic_fetch_add(Where, Value, __ATOMIC_SEQ_CST);)
SCOPED(add, f, f64, double,
       return __atomic_fetch_add(Where, Value, __ATOMIC_SEQ_CST);)

/// The loop behind increment and decrement, which no builtin has.
template <typename Type, typename Next>
static inline __attribute__((always_inline)) Type update(Type *Where,
                                                         Next Compute) {
  Type Old = __atomic_load_n(Where, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(Where, &Old, Compute(Old),
                                      /*weak=*/true, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) {
  }
  return Old;
}
SCOPED(inc, i, i32, uint32_t, return update(Where, [=](uint32_t Old) {
         return Old >= Value ? 0 : Old + 1;
       });)
SCOPED(dec, i, i32, uint32_t, return update(Where, [=](uint32_t Old) {
         return Old == 0 || Old > Value ? Value : Old - 1;
       });)

#define COMPARE_SWAP(Suffix, Type, Scope)                                      \
  LIBRARY Type __r3_nvvm_atomic_cas_gen_i_##Scope##_##Suffix##_p0(             \
      Type *Where, Type Expected, Type Desired) {                              \
    __atomic_compare_exchange_n(Where, &Expected, Desired, /*weak=*/false,     \
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);           \
    return Expected;                                                           \
  }
COMPARE_SWAP(i16, uint16_t, cta)
COMPARE_SWAP(i16, uint16_t, sys)
COMPARE_SWAP(i32, uint32_t, cta)
COMPARE_SWAP(i32, uint32_t, sys)
COMPARE_SWAP(i64, uint64_t, cta)
COMPARE_SWAP(i64, uint64_t, sys)
