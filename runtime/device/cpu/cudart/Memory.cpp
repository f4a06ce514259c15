// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocation: device, pinned, registered and managed memory. All lies in one
// address space; the kinds differ in what the program may ask about them.
#include "runtime/device/cpu/cudart/Served.h"

namespace r3::cudart {

using cpu::MemoryBlock;
using cpu::MemoryUse;

/// Rows begin at multiples of this, as on a GPU.
static constexpr size_t PitchAlignment = 512;

bool isKnown(const void *Where, size_t Size) {
  std::optional<MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (!Block)
    return false;
  uint64_t Offset = addressOf(Where) - Block->Begin;
  return Offset <= Block->Size && Size <= Block->Size - Offset;
}

bool isPageable(const void *Where) {
  return !engine().findBlock(addressOf(Where));
}

static cudaError_t allocate(void **Into, size_t Size, MemoryUse Use,
                            uint32_t Tag) {
  if (!Into)
    return cudaErrorInvalidValue;
  *Into = nullptr;
  if (!Size)
    return cudaSuccess;
  Expected<Address> Where = engine().allocateBlock(Size, Use, Tag);
  if (!Where)
    return codeOf(Where.error(), cudaErrorMemoryAllocation);
  std::lock_guard Lock(State::get().Mutex);
  State::get().Allocations.insert(*Where);
  *Into = pointerTo(*Where);
  return cudaSuccess;
}

/// Frees an allocation of the given use, after all work that may touch it.
static cudaError_t release(void *Where, MemoryUse Use) {
  if (!Where)
    return cudaSuccess;
  std::optional<MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (!Block || Block->Begin != addressOf(Where) || Block->Use != Use)
    return cudaErrorInvalidValue;
  if (Error Failure = engine().synchronizeDevice())
    return codeOf(Failure, cudaErrorUnknown);
  {
    std::lock_guard Lock(State::get().Mutex);
    State::get().Allocations.erase(Block->Begin);
    State::get().Advised.erase(Block->Begin);
    auto InPool = State::get().PoolAllocations.find(Block->Begin);
    if (InPool != State::get().PoolAllocations.end()) {
      InPool->second.first->Used -= InPool->second.second;
      State::get().PoolAllocations.erase(InPool);
    }
  }
  Error Failure = engine().freeBlock(Block->Begin);
  return Failure ? codeOf(Failure, cudaErrorInvalidValue) : cudaSuccess;
}

//===-- Device memory -----------------------------------------------------===//

cudaError_t servedMalloc(void **Into, size_t Size) {
  return allocate(Into, Size, MemoryUse::Program, TagDevice);
}

cudaError_t servedFree(void *Where) {
  return release(Where, MemoryUse::Program);
}

cudaError_t servedMallocManaged(void **Into, size_t Size, unsigned Flags) {
  if (!Size || (Flags != cudaMemAttachGlobal && Flags != cudaMemAttachHost))
    return cudaErrorInvalidValue;
  return allocate(Into, Size, MemoryUse::Program, TagManaged);
}

static bool multiply(size_t A, size_t B, size_t &Product) {
  return !__builtin_mul_overflow(A, B, &Product);
}

static bool pitchOf(size_t Width, size_t &Pitch) {
  if (Width > SIZE_MAX - PitchAlignment)
    return false;
  Pitch = (Width + PitchAlignment - 1) / PitchAlignment * PitchAlignment;
  return true;
}

cudaError_t servedMallocPitch(void **Into, size_t *Pitch, size_t Width,
                              size_t Height) {
  size_t Size;
  if (!Into || !Pitch || !pitchOf(Width, *Pitch) ||
      !multiply(*Pitch, Height, Size))
    return cudaErrorInvalidValue;
  return allocate(Into, Size, MemoryUse::Program, TagDevice);
}

cudaError_t servedMalloc3D(cudaPitchedPtr *Into, cudaExtent Extent) {
  size_t Pitch, Slice, Size;
  if (!Into || !pitchOf(Extent.width, Pitch) ||
      !multiply(Pitch, Extent.height, Slice) ||
      !multiply(Slice, Extent.depth, Size))
    return cudaErrorInvalidValue;
  *Into = {nullptr, Pitch, Extent.width, Extent.height};
  return allocate(&Into->ptr, Size, MemoryUse::Program, TagDevice);
}

cudaError_t servedMemGetInfo(size_t *Free, size_t *Total) {
  if (!Free || !Total)
    return cudaErrorInvalidValue;
  *Free = engine().freeBytes();
  *Total = engine().identity().MemoryBytes;
  return cudaSuccess;
}

//===-- Host memory -------------------------------------------------------===//

static constexpr unsigned HostFlags =
    cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
static constexpr unsigned RegisterFlags =
    cudaHostRegisterPortable | cudaHostRegisterMapped |
    cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;

cudaError_t servedHostAlloc(void **Into, size_t Size, unsigned Flags) {
  if (Flags & ~HostFlags)
    return cudaErrorInvalidValue;
  return allocate(Into, Size, MemoryUse::Pinned, Flags | cudaHostAllocMapped);
}

cudaError_t servedMallocHost(void **Into, size_t Size) {
  return servedHostAlloc(Into, Size, cudaHostAllocDefault);
}

cudaError_t servedFreeHost(void *Where) {
  return release(Where, MemoryUse::Pinned);
}

cudaError_t servedHostRegister(void *Where, size_t Size, unsigned Flags) {
  if (!Where || !Size || (Flags & ~RegisterFlags))
    return cudaErrorInvalidValue;
  if (Flags & cudaHostRegisterIoMemory)
    return cudaErrorNotSupported;
  Error Failure =
      engine().registerHost(Where, Size, Flags | cudaHostRegisterMapped);
  return Failure ? codeOf(Failure, cudaErrorHostMemoryAlreadyRegistered)
                 : cudaSuccess;
}

cudaError_t servedHostUnregister(void *Where) {
  if (!Where)
    return cudaErrorInvalidValue;
  if (Error Failure = engine().synchronizeDevice())
    return codeOf(Failure, cudaErrorUnknown);
  Error Failure = engine().unregisterHost(Where);
  return Failure ? codeOf(Failure, cudaErrorHostMemoryNotRegistered)
                 : cudaSuccess;
}

/// Pinned or registered memory that contains Where.
static std::optional<MemoryBlock> hostBlock(const void *Where) {
  std::optional<MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (Block && Block->Use != MemoryUse::Pinned &&
      Block->Use != MemoryUse::Register)
    return std::nullopt;
  return Block;
}

cudaError_t servedHostGetDevicePointer(void **Into, void *Where,
                                       unsigned Flags) {
  if (!Into || Flags || !hostBlock(Where))
    return cudaErrorInvalidValue;
  *Into = Where;
  return cudaSuccess;
}

cudaError_t servedHostGetFlags(unsigned *Flags, void *Where) {
  std::optional<MemoryBlock> Block = hostBlock(Where);
  if (!Flags || !Block || Block->Use != MemoryUse::Pinned)
    return cudaErrorInvalidValue;
  *Flags = Block->Tag;
  return cudaSuccess;
}

//===-- Questions ---------------------------------------------------------===//

cudaError_t servedPointerGetAttributes(cudaPointerAttributes *Into,
                                       const void *Where) {
  if (!Into)
    return cudaErrorInvalidValue;
  *Into = cudaPointerAttributes{};
  Into->device = 0;
  Into->hostPointer = const_cast<void *>(Where);
  std::optional<MemoryBlock> Block = engine().findBlock(addressOf(Where));
  if (!Block) {
    Into->type = cudaMemoryTypeUnregistered;
    Into->device = -2; // as CUDA marks what it does not know
    return cudaSuccess;
  }
  Into->devicePointer = const_cast<void *>(Where);
  if (Block->Use == MemoryUse::Pinned || Block->Use == MemoryUse::Register) {
    Into->type = cudaMemoryTypeHost;
  } else if (Block->Use == MemoryUse::Program && Block->Tag == TagManaged) {
    Into->type = cudaMemoryTypeManaged;
  } else {
    Into->type = cudaMemoryTypeDevice;
    Into->hostPointer = nullptr;
  }
  return cudaSuccess;
}

} // namespace r3::cudart
