// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special registers. The loads from the context are marked invariant by the
// compile part, since no thread's registers change while it runs.
#pragma once

#include "Library.h"

#define REGISTER(Name, Value)                                                  \
  LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_##Name() { return Value; }
#define REGISTER3(Name, Field)                                                 \
  REGISTER(Name##_x, __r3_context()->Field[0])                                 \
  REGISTER(Name##_y, __r3_context()->Field[1])                                 \
  REGISTER(Name##_z, __r3_context()->Field[2])
#define CONSTANT3(Name, Value)                                                 \
  REGISTER(Name##_x, Value) REGISTER(Name##_y, Value) REGISTER(Name##_z, Value)

REGISTER3(tid, Thread)
REGISTER3(ntid, BlockSize)
REGISTER3(ctaid, Block)
REGISTER3(nctaid, GridSize)
// A block is a cluster of its own.
REGISTER3(clusterid, Block)
REGISTER3(nclusterid, GridSize)
CONSTANT3(cluster_ctaid, 0)
CONSTANT3(cluster_nctaid, 1)
REGISTER(cluster_ctarank, 0)
REGISTER(cluster_nctarank, 1)
REGISTER(warpsize, 32)
REGISTER(laneid, __r3_context()->Lane)
REGISTER(warpid, __r3_context()->Warp)
REGISTER(nwarpid, __r3_context()->WarpCount)
REGISTER(smid, __r3_context()->Processor)
REGISTER(nsmid, __r3_context()->ProcessorCount)
REGISTER(gridid, static_cast<uint32_t>(__r3_context()->GridId))
REGISTER(dynamic_smem_size, __r3_context()->DynamicSharedBytes)
REGISTER(total_smem_size, __r3_context()->SharedBytes)
// The address of the workspace of a cooperative launch, in two halves.
REGISTER(envreg1,
         static_cast<uint32_t>(
             reinterpret_cast<uint64_t>(__r3_context()->Workspace) >> 32))
REGISTER(envreg2, static_cast<uint32_t>(
                      reinterpret_cast<uint64_t>(__r3_context()->Workspace)))
REGISTER(lanemask_eq, 1u << __r3_context()->Lane)
REGISTER(lanemask_lt, (1u << __r3_context()->Lane) - 1)
REGISTER(lanemask_le, (2u << __r3_context()->Lane) - 1)
REGISTER(lanemask_gt, ~((2u << __r3_context()->Lane) - 1))
REGISTER(lanemask_ge, ~((1u << __r3_context()->Lane) - 1))

LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_clock() {
  return static_cast<uint32_t>(__builtin_ia32_rdtsc());
}
LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_clock_hi() {
  return static_cast<uint32_t>(__builtin_ia32_rdtsc() >> 32);
}
LIBRARY uint64_t __r3_nvvm_read_ptx_sreg_clock64() {
  return __builtin_ia32_rdtsc();
}
LIBRARY uint64_t __r3_nvvm_read_ptx_sreg_globaltimer() {
  return __r3_cpu_globalTimer();
}
LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_globaltimer_lo() {
  return static_cast<uint32_t>(__r3_cpu_globalTimer());
}
LIBRARY uint32_t __r3_nvvm_read_ptx_sreg_globaltimer_hi() {
  return static_cast<uint32_t>(__r3_cpu_globalTimer() >> 32);
}

LIBRARY bool __r3_nvvm_is_explicit_cluster() { return false; }

// Memory windows: shared memory is the block's buffer, local memory the thread's
// stack, constant memory is not told apart from global memory.
LIBRARY bool __r3_nvvm_isspacep_shared(const void *Where) {
  ThreadContext *Context = __r3_context();
  return reinterpret_cast<uintptr_t>(Where) -
             reinterpret_cast<uintptr_t>(Context->Shared) <
         Context->SharedBytes;
}
LIBRARY bool __r3_nvvm_isspacep_shared_cluster(const void *Where) {
  return __r3_nvvm_isspacep_shared(Where);
}
LIBRARY bool __r3_nvvm_isspacep_local(const void *Where) {
  return __r3_cpu_isLocal(__r3_context(), Where);
}
LIBRARY bool __r3_nvvm_isspacep_global(const void *Where) {
  return !__r3_nvvm_isspacep_shared(Where) &&
         !__r3_nvvm_isspacep_local(Where);
}
LIBRARY bool __r3_nvvm_isspacep_const(const void *) { return false; }
