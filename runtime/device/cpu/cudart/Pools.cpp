// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stream-ordered memory. An allocation exists at once; a free happens when the
// stream gets there. Pools count what is in use; nothing is held back.
#include "runtime/device/cpu/cudart/Served.h"

#include <algorithm>

namespace r3::cudart {

static MemoryPool *poolOf(cudaMemPool_t Handle) {
  auto *Pool = reinterpret_cast<MemoryPool *>(Handle);
  State &S = State::get();
  return Pool == &S.DefaultPool || S.Pools.count(Pool) ? Pool : nullptr;
}

static cudaMemPool_t handleOf(MemoryPool *Pool) {
  return reinterpret_cast<cudaMemPool_t>(Pool);
}

//===-- Allocation --------------------------------------------------------===//

static cudaError_t allocate(void **Into, size_t Size, MemoryPool *Pool,
                            cudaStream_t Stream) {
  if (!Into || !Pool)
    return cudaErrorInvalidValue;
  *Into = nullptr;
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (!Size)
    return cudaSuccess;
  Expected<Address> Where =
      engine().allocateBlock(Size, cpu::MemoryUse::Program, TagPool);
  if (!Where)
    return codeOf(Where.error(), cudaErrorMemoryAllocation);
  std::lock_guard Lock(State::get().Mutex);
  State::get().Allocations.insert(*Where);
  State::get().PoolAllocations[*Where] = {Pool, Size};
  Pool->Used += Size;
  Pool->UsedHigh = std::max(Pool->UsedHigh, Pool->Used);
  *Into = pointerTo(*Where);
  return cudaSuccess;
}

cudaError_t servedMallocAsync(void **Into, size_t Size, cudaStream_t Stream) {
  MemoryPool *Pool;
  {
    std::lock_guard Lock(State::get().Mutex);
    Pool = State::get().CurrentPool;
  }
  return allocate(Into, Size, Pool, Stream);
}

cudaError_t servedMallocFromPoolAsync(void **Into, size_t Size,
                                      cudaMemPool_t Handle,
                                      cudaStream_t Stream) {
  MemoryPool *Pool;
  {
    std::lock_guard Lock(State::get().Mutex);
    Pool = poolOf(Handle);
  }
  return allocate(Into, Size, Pool, Stream);
}

/// On the stream's thread.
static void releaseNow(Address Where) {
  {
    State &S = State::get();
    std::lock_guard Lock(S.Mutex);
    auto Found = S.PoolAllocations.find(Where);
    if (Found != S.PoolAllocations.end()) {
      Found->second.first->Used -= Found->second.second;
      S.PoolAllocations.erase(Found);
    }
    // A reset or a plain free may have come before.
    if (!S.Allocations.erase(Where))
      return;
    S.Advised.erase(Where);
  }
  (void)engine().freeBlock(Where);
}

cudaError_t servedFreeAsync(void *Where, cudaStream_t Stream) {
  if (cudaError_t Code = checkStream(Stream))
    return Code;
  if (!Where)
    return cudaSuccess;
  std::optional<cpu::MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (!Block || Block->Begin != addressOf(Where) ||
      Block->Use != cpu::MemoryUse::Program)
    return cudaErrorInvalidValue;
  Error Failure =
      engine().enqueue(Stream, [Begin = Block->Begin] { releaseNow(Begin); });
  return Failure ? codeOf(Failure, cudaErrorInvalidValue) : cudaSuccess;
}

//===-- Pools -------------------------------------------------------------===//

cudaError_t servedMemPoolCreate(cudaMemPool_t *Into,
                                const cudaMemPoolProps *Properties) {
  if (!Into || !Properties ||
      Properties->allocType != cudaMemAllocationTypePinned)
    return cudaErrorInvalidValue;
  if (Properties->handleTypes != cudaMemHandleTypeNone)
    return cudaErrorNotSupported;
  if (Properties->location.type != cudaMemLocationTypeDevice ||
      Properties->location.id != 0)
    return cudaErrorInvalidDevice;
  auto *Pool = new MemoryPool;
  std::lock_guard Lock(State::get().Mutex);
  State::get().Pools.insert(Pool);
  *Into = handleOf(Pool);
  return cudaSuccess;
}

cudaError_t servedMemPoolDestroy(cudaMemPool_t Handle) {
  State &S = State::get();
  std::lock_guard Lock(S.Mutex);
  MemoryPool *Pool = poolOf(Handle);
  if (!Pool || Pool == &S.DefaultPool)
    return cudaErrorInvalidValue;
  // What is still allocated stays until it is freed, as in CUDA.
  for (auto &[Where, Owner] : S.PoolAllocations)
    if (Owner.first == Pool) {
      Owner.first = &S.DefaultPool;
      S.DefaultPool.Used += Owner.second;
    }
  if (S.CurrentPool == Pool)
    S.CurrentPool = &S.DefaultPool;
  S.Pools.erase(Pool);
  delete Pool;
  return cudaSuccess;
}

cudaError_t servedMemPoolTrimTo(cudaMemPool_t Handle, size_t) {
  std::lock_guard Lock(State::get().Mutex);
  return poolOf(Handle) ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t servedMemPoolSetAttribute(cudaMemPool_t Handle,
                                      cudaMemPoolAttr Attribute, void *Value) {
  std::lock_guard Lock(State::get().Mutex);
  MemoryPool *Pool = poolOf(Handle);
  if (!Pool || !Value)
    return cudaErrorInvalidValue;
  switch (Attribute) {
  case cudaMemPoolReuseFollowEventDependencies:
  case cudaMemPoolReuseAllowOpportunistic:
  case cudaMemPoolReuseAllowInternalDependencies:
    Pool->Reuse[Attribute - cudaMemPoolReuseFollowEventDependencies] =
        *static_cast<int *>(Value);
    return cudaSuccess;
  case cudaMemPoolAttrReleaseThreshold:
    Pool->ReleaseThreshold = *static_cast<uint64_t *>(Value);
    return cudaSuccess;
  case cudaMemPoolAttrReservedMemHigh:
  case cudaMemPoolAttrUsedMemHigh:
    if (*static_cast<uint64_t *>(Value)) // they can only be set back
      return cudaErrorInvalidValue;
    Pool->UsedHigh = Pool->Used;
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

cudaError_t servedMemPoolGetAttribute(cudaMemPool_t Handle,
                                      cudaMemPoolAttr Attribute, void *Value) {
  std::lock_guard Lock(State::get().Mutex);
  MemoryPool *Pool = poolOf(Handle);
  if (!Pool || !Value)
    return cudaErrorInvalidValue;
  auto &Wide = *static_cast<uint64_t *>(Value);
  switch (Attribute) {
  case cudaMemPoolReuseFollowEventDependencies:
  case cudaMemPoolReuseAllowOpportunistic:
  case cudaMemPoolReuseAllowInternalDependencies:
    *static_cast<int *>(Value) =
        Pool->Reuse[Attribute - cudaMemPoolReuseFollowEventDependencies];
    return cudaSuccess;
  case cudaMemPoolAttrReleaseThreshold:
    Wide = Pool->ReleaseThreshold;
    return cudaSuccess;
  case cudaMemPoolAttrReservedMemCurrent:
  case cudaMemPoolAttrUsedMemCurrent:
    Wide = Pool->Used;
    return cudaSuccess;
  case cudaMemPoolAttrReservedMemHigh:
  case cudaMemPoolAttrUsedMemHigh:
    Wide = Pool->UsedHigh;
    return cudaSuccess;
  default:
    return cudaErrorInvalidValue;
  }
}

cudaError_t servedMemPoolSetAccess(cudaMemPool_t Handle,
                                   const cudaMemAccessDesc *List,
                                   size_t Count) {
  std::lock_guard Lock(State::get().Mutex);
  if (!poolOf(Handle) || (Count && !List))
    return cudaErrorInvalidValue;
  for (size_t I = 0; I != Count; ++I) {
    if (List[I].location.type != cudaMemLocationTypeDevice ||
        List[I].location.id != 0)
      return cudaErrorInvalidDevice;
    // The owner's access cannot be taken away.
    if (List[I].flags != cudaMemAccessFlagsProtReadWrite)
      return cudaErrorInvalidValue;
  }
  return cudaSuccess;
}

cudaError_t servedMemPoolGetAccess(cudaMemAccessFlags *Flags,
                                   cudaMemPool_t Handle,
                                   cudaMemLocation *Location) {
  std::lock_guard Lock(State::get().Mutex);
  if (!Flags || !poolOf(Handle) || !Location)
    return cudaErrorInvalidValue;
  if (Location->type != cudaMemLocationTypeDevice || Location->id != 0)
    return cudaErrorInvalidDevice;
  *Flags = cudaMemAccessFlagsProtReadWrite;
  return cudaSuccess;
}

cudaError_t servedDeviceGetDefaultMemPool(cudaMemPool_t *Into, int Device) {
  if (!Into)
    return cudaErrorInvalidValue;
  if (Device != 0)
    return cudaErrorInvalidDevice;
  *Into = handleOf(&State::get().DefaultPool);
  return cudaSuccess;
}

cudaError_t servedDeviceGetMemPool(cudaMemPool_t *Into, int Device) {
  if (!Into)
    return cudaErrorInvalidValue;
  if (Device != 0)
    return cudaErrorInvalidDevice;
  std::lock_guard Lock(State::get().Mutex);
  *Into = handleOf(State::get().CurrentPool);
  return cudaSuccess;
}

cudaError_t servedDeviceSetMemPool(int Device, cudaMemPool_t Handle) {
  if (Device != 0)
    return cudaErrorInvalidDevice;
  std::lock_guard Lock(State::get().Mutex);
  MemoryPool *Pool = poolOf(Handle);
  if (!Pool)
    return cudaErrorInvalidValue;
  State::get().CurrentPool = Pool;
  return cudaSuccess;
}

} // namespace r3::cudart
