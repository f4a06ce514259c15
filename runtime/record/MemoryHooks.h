// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hooks of the functions that give and take memory. An allocation is known
// after the real function has given it; it is forgotten before the real
// function takes it back, since its address may be given again at once.
#pragma once

#include "runtime/record/Hooks.h"

namespace r3::record {

R3_HOOK(cudaMalloc, void **Where, size_t Size) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Size);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::Device);
  return E;
}

R3_HOOK(cudaMallocManaged, void **Where, size_t Size, unsigned Flags) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Size, Flags);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::Managed);
  return E;
}

R3_HOOK(cudaMallocPitch, void **Where, size_t *Pitch, size_t Width,
        size_t Height) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Pitch, Width, Height);
  if (!E)
    R.allocated(addressOf(*Where), *Pitch * Height, MemoryKind::Device);
  return E;
}

R3_HOOK(cudaMalloc3D, cudaPitchedPtr *Where, cudaExtent Extent) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Extent);
  if (!E)
    R.allocated(addressOf(Where->ptr),
                Where->pitch * Extent.height * Extent.depth,
                MemoryKind::Device);
  return E;
}

// Pinned host memory can be reached by the device at its own address.
R3_HOOK(cudaMallocHost, void **Where, size_t Size) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Size);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::MappedHost);
  return E;
}

R3_HOOK(cudaHostAlloc, void **Where, size_t Size, unsigned Flags) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Size, Flags);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::MappedHost);
  return E;
}

R3_HOOK(cudaHostRegister, void *Where, size_t Size, unsigned Flags) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Size, Flags);
  if (!E)
    R.allocated(addressOf(Where), Size, MemoryKind::MappedHost);
  return E;
}

/// Forgets, frees, and remembers again where freeing failed.
template <typename F>
cudaError_t freeing(Recorder &R, StreamHandle Stream, void *Where, F Free) {
  Working W(R, Stream);
  std::optional<Allocation> Old = R.memory().remove(addressOf(Where));
  cudaError_t E = Free();
  if (E && Old)
    R.memory().add(*Old);
  return E;
}

R3_HOOK(cudaFree, void *Where) {
  return freeing(R, nullptr, Where, [&] { return Real(Where); });
}
R3_HOOK(cudaFreeHost, void *Where) {
  return freeing(R, nullptr, Where, [&] { return Real(Where); });
}
R3_HOOK(cudaHostUnregister, void *Where) {
  return freeing(R, nullptr, Where, [&] { return Real(Where); });
}
R3_HOOK(cudaFreeAsync, void *Where, cudaStream_t Stream) {
  return freeing(R, streamOf(PerThread, Stream), Where,
                 [&] { return Real(Where, Stream); });
}
R3_HOOK(cudaIpcCloseMemHandle, void *Where) {
  return freeing(R, nullptr, Where, [&] { return Real(Where); });
}

R3_HOOK(cudaMallocAsync, void **Where, size_t Size, cudaStream_t Stream) {
  Working W(R, streamOf(PerThread, Stream));
  cudaError_t E = Real(Where, Size, Stream);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::Pool);
  return E;
}

R3_HOOK(cudaMallocFromPoolAsync, void **Where, size_t Size, cudaMemPool_t Pool,
        cudaStream_t Stream) {
  Working W(R, streamOf(PerThread, Stream));
  cudaError_t E = Real(Where, Size, Pool, Stream);
  if (!E)
    R.allocated(addressOf(*Where), Size, MemoryKind::Pool);
  return E;
}

R3_HOOK(cudaIpcOpenMemHandle, void **Where, cudaIpcMemHandle_t Handle,
        unsigned Flags) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Handle, Flags);
  if (!E)
    R.imported(addressOf(*Where));
  return E;
}

R3_HOOK(cudaMemPoolImportPointer, void **Where, cudaMemPool_t Pool,
        cudaMemPoolPtrExportData *Data) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Pool, Data);
  if (!E)
    R.imported(addressOf(*Where));
  return E;
}

R3_HOOK(cudaExternalMemoryGetMappedBuffer, void **Where,
        cudaExternalMemory_t Memory,
        const cudaExternalMemoryBufferDesc *Buffer) {
  Working W(R, nullptr);
  cudaError_t E = Real(Where, Memory, Buffer);
  if (!E && Buffer)
    R.allocated(addressOf(*Where), Buffer->size, MemoryKind::Device,
                /*Imported=*/true);
  return E;
}

} // namespace r3::record
