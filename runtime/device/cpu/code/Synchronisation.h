// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Barriers, warp operations, fences, and what ends or reports: each is a call
// into the engine, which switches to another thread where it has to wait.
#pragma once

#include "Library.h"

// --- Barriers of a block, in all spellings.

#define BARRIER(Form)                                                          \
  CONVERGENT void __r3_nvvm_barrier_cta_sync##Form##_all(uint32_t Id) {        \
    __r3_cpu_barrier(__r3_context(), Id, 0, BarrierSync, 0);                   \
  }                                                                            \
  CONVERGENT void __r3_nvvm_barrier_cta_sync##Form##_count(uint32_t Id,        \
                                                           uint32_t Count) {   \
    __r3_cpu_barrier(__r3_context(), Id, Count, BarrierSync, 0);               \
  }                                                                            \
  CONVERGENT void __r3_nvvm_barrier_cta_arrive##Form##_count(uint32_t Id,      \
                                                             uint32_t Count) { \
    __r3_cpu_barrierArrive(__r3_context(), Id, Count);                         \
  }                                                                            \
  REDUCTION(Form, bool, and, BarrierAnd)                                       \
  REDUCTION(Form, bool, or, BarrierOr)                                         \
  REDUCTION(Form, uint32_t, popc, BarrierCount)
#define REDUCTION(Form, Type, Name, Operation)                                 \
  CONVERGENT Type __r3_nvvm_barrier_cta_red_##Name##Form##_all(uint32_t Id,    \
                                                               bool Value) {   \
    return __r3_cpu_barrier(__r3_context(), Id, 0, Operation, Value);          \
  }                                                                            \
  CONVERGENT Type __r3_nvvm_barrier_cta_red_##Name##Form##_count(              \
      uint32_t Id, uint32_t Count, bool Value) {                               \
    return __r3_cpu_barrier(__r3_context(), Id, Count, Operation, Value);      \
  }
BARRIER(_aligned)
BARRIER()

// --- Warp operations.

static inline __attribute__((always_inline)) uint64_t
warp(WarpOperation Operation, uint32_t Mask, uint64_t Value, uint32_t Lane = 0,
     uint32_t Clamp = 0, bool *Predicate = nullptr) {
  return __r3_cpu_warpOperation(__r3_context(), Operation, Mask, Value, Lane,
                                Clamp, Predicate);
}

#define SHUFFLE(Name, Operation)                                               \
  CONVERGENT uint32_t __r3_nvvm_shfl_sync_##Name##_i32(                        \
      uint32_t Mask, uint32_t Value, uint32_t Lane, uint32_t Clamp) {          \
    return warp(Operation, Mask, Value, Lane, Clamp);                          \
  }                                                                            \
  CONVERGENT float __r3_nvvm_shfl_sync_##Name##_f32(                           \
      uint32_t Mask, float Value, uint32_t Lane, uint32_t Clamp) {             \
    return __builtin_bit_cast(                                                 \
        float, __r3_nvvm_shfl_sync_##Name##_i32(                               \
                   Mask, __builtin_bit_cast(uint32_t, Value), Lane, Clamp));   \
  }                                                                            \
  CONVERGENT uint32_t __r3_nvvm_shfl_sync_##Name##_i32p(                       \
      uint32_t Mask, uint32_t Value, uint32_t Lane, uint32_t Clamp,            \
      bool *Predicate) {                                                       \
    return warp(Operation, Mask, Value, Lane, Clamp, Predicate);               \
  }                                                                            \
  CONVERGENT float __r3_nvvm_shfl_sync_##Name##_f32p(                          \
      uint32_t Mask, float Value, uint32_t Lane, uint32_t Clamp,               \
      bool *Predicate) {                                                       \
    return __builtin_bit_cast(float,                                           \
                              __r3_nvvm_shfl_sync_##Name##_i32p(               \
                                  Mask, __builtin_bit_cast(uint32_t, Value),   \
                                  Lane, Clamp, Predicate));                    \
  }
SHUFFLE(up, ShuffleUp)
SHUFFLE(down, ShuffleDown)
SHUFFLE(bfly, ShuffleXor)
SHUFFLE(idx, ShuffleIndex)

CONVERGENT bool __r3_nvvm_vote_all_sync(uint32_t Mask, bool Value) {
  return warp(VoteAll, Mask, Value);
}
CONVERGENT bool __r3_nvvm_vote_any_sync(uint32_t Mask, bool Value) {
  return warp(VoteAny, Mask, Value);
}
CONVERGENT bool __r3_nvvm_vote_uni_sync(uint32_t Mask, bool Value) {
  return warp(VoteUniform, Mask, Value);
}
CONVERGENT uint32_t __r3_nvvm_vote_ballot_sync(uint32_t Mask, bool Value) {
  return warp(VoteBallot, Mask, Value);
}
CONVERGENT uint32_t __r3_nvvm_match_any_sync_i32(uint32_t Mask,
                                                 uint32_t Value) {
  return warp(MatchAny, Mask, Value);
}
CONVERGENT uint32_t __r3_nvvm_match_any_sync_i64(uint32_t Mask,
                                                 uint64_t Value) {
  return warp(MatchAny, Mask, Value);
}
CONVERGENT uint32_t __r3_nvvm_match_all_sync_i32p(uint32_t Mask, uint32_t Value,
                                                  bool *Predicate) {
  return warp(MatchAll, Mask, Value, 0, 0, Predicate);
}
CONVERGENT uint32_t __r3_nvvm_match_all_sync_i64p(uint32_t Mask, uint64_t Value,
                                                  bool *Predicate) {
  return warp(MatchAll, Mask, Value, 0, 0, Predicate);
}
CONVERGENT void __r3_nvvm_bar_warp_sync(uint32_t Mask) {
  warp(WarpSync, Mask, 0);
}
CONVERGENT uint32_t __r3_nvvm_elect_sync(uint32_t Mask, bool *Predicate) {
  return warp(Elect, Mask, 0, 0, 0, Predicate);
}

#define REDUX(Name, Operation)                                                 \
  CONVERGENT uint32_t __r3_nvvm_redux_sync_##Name(uint32_t Value,              \
                                                  uint32_t Mask) {             \
    return warp(Operation, Mask, Value);                                       \
  }
REDUX(add, ReduceAdd)
REDUX(min, ReduceMin)
REDUX(max, ReduceMax)
REDUX(umin, ReduceUnsignedMin)
REDUX(umax, ReduceUnsignedMax)
REDUX(and, ReduceAnd)
REDUX(or, ReduceOr)
REDUX(xor, ReduceXor)
#define REDUX_FLOAT(Name, Operation, Prepared)                                 \
  CONVERGENT float __r3_nvvm_redux_sync_##Name(float Value, uint32_t Mask) {   \
    return __builtin_bit_cast(                                                 \
        float, static_cast<uint32_t>(warp(                                     \
                   Operation, Mask, __builtin_bit_cast(uint32_t, Prepared)))); \
  }
REDUX_FLOAT(fmin, ReduceFloatMin, Value)
REDUX_FLOAT(fmax, ReduceFloatMax, Value)
REDUX_FLOAT(fmin_abs, ReduceFloatMin, __builtin_fabsf(Value))
REDUX_FLOAT(fmax_abs, ReduceFloatMax, __builtin_fabsf(Value))

/// Called in place of llvm.nvvm.activemask, with the number of the call.
CONVERGENT uint32_t __r3_activemask(uint32_t Site) {
  return __r3_cpu_activeMask(__r3_context(), Site);
}

// --- Fences.

#define FENCE(Name)                                                            \
  LIBRARY void __r3_nvvm_##Name() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
FENCE(membar_cta)
FENCE(membar_gl)
FENCE(membar_sys)
FENCE(fence_sc_cluster)
FENCE(fence_proxy_alias)
FENCE(fence_proxy_async)
FENCE(fence_proxy_async_global)
FENCE(fence_proxy_async_shared_cta)
FENCE(fence_proxy_async_shared_cluster)

// --- Asynchronous copies to shared memory complete at once.

#define ASYNC_COPY(Kind, Size)                                                 \
  LIBRARY void __r3_nvvm_cp_async_##Kind##_shared_global_##Size(               \
      void *To, const void *From) {                                            \
    __builtin_memcpy(To, From, Size);                                          \
  }                                                                            \
  LIBRARY void __r3_nvvm_cp_async_##Kind##_shared_global_##Size##_s(           \
      void *To, const void *From, uint32_t Bytes) {                            \
    for (uint32_t I = 0; I < Size; ++I)                                        \
      static_cast<char *>(To)[I] =                                             \
          I < Bytes ? static_cast<const char *>(From)[I] : 0;                  \
  }
ASYNC_COPY(ca, 4)
ASYNC_COPY(ca, 8)
ASYNC_COPY(ca, 16)
ASYNC_COPY(cg, 16)
LIBRARY void __r3_nvvm_cp_async_commit_group() {}
LIBRARY void __r3_nvvm_cp_async_wait_group(uint32_t) {}
LIBRARY void __r3_nvvm_cp_async_wait_all() {}
LIBRARY void __r3_nvvm_griddepcontrol_wait() {}
LIBRARY void __r3_nvvm_griddepcontrol_launch_dependents() {}

// --- Waiting, ending, reporting.

CONVERGENT void __r3_nvvm_nanosleep(uint32_t) {
  __r3_cpu_yield(__r3_context());
}
LIBRARY void __r3_nvvm_exit() { __r3_cpu_threadExit(__r3_context()); }
/// Called in place of llvm.trap.
LIBRARY void __r3_trap() { __r3_cpu_trap(__r3_context()); }
LIBRARY void __assertfail(const char *Message, const char *File, uint32_t Line,
                          const char *Function, uint64_t) {
  __r3_cpu_assertFailed(__r3_context(), Message, File, Line, Function);
}
LIBRARY void __assert_fail(const char *Message, const char *File, uint32_t Line,
                           const char *Function) {
  __r3_cpu_assertFailed(__r3_context(), Message, File, Line, Function);
}
LIBRARY int32_t vprintf(const char *Format, const void *Arguments) {
  return __r3_cpu_print(__r3_context(), Format, Arguments);
}
LIBRARY void *malloc(uint64_t Size) {
  return __r3_cpu_allocateHeap(__r3_context(), Size);
}
LIBRARY void free(void *Where) { __r3_cpu_freeHeap(__r3_context(), Where); }
LIBRARY void __cxa_pure_virtual() { __r3_cpu_trap(__r3_context()); }
