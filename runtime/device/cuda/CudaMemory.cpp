// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory at wanted addresses (driver's virtual memory management) and ordinary
// memory.
#include "runtime/device/cuda/CudaDevice.h"

#include <cinttypes>
#include <fcntl.h>
#include <unistd.h>

using namespace r3;

CUmemAllocationProp CudaDevice::memoryProperties() const {
  CUmemAllocationProp Properties = {};
  Properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  Properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Properties.location.id = Ordinal;
  Properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return Properties;
}

Expected<Address> CudaDevice::reserve(Address Wanted, uint64_t Size) {
  Scope Enter(*this);
  if (Wanted % reserveAlignment() || Size % Granularity || !Size)
    return fail(ErrorCode::Usage,
                "reservation of %" PRIu64 " bytes at 0x%" PRIx64
                ": not a multiple of %" PRIu64 " bytes at one of %" PRIu64,
                Size, Wanted, Granularity, reserveAlignment());
  CUdeviceptr Got = 0;
  if (Error E = R3_CUDA_CALL(
          MemAddressReserve(&Got, Size, Wanted ? 0 : reserveAlignment(), Wanted,
                            /*flags=*/0)))
    return E;
  if (!Wanted || Got == Wanted)
    return Got;
  // The address is a hint to the driver; elsewhere is of no use.
  if (Error E = R3_CUDA_CALL(MemAddressFree(Got, Size)))
    return E;
  return fail(ErrorCode::Failed,
              "%" PRIu64 " bytes at 0x%" PRIx64 " are taken: the driver "
              "offered 0x%" PRIx64,
              Size, Wanted, uint64_t(Got));
}

Error CudaDevice::unreserve(Address Where, uint64_t Size) {
  Scope Enter(*this);
  return R3_CUDA_CALL(MemAddressFree(Where, Size));
}

Expected<MemoryHandle> CudaDevice::createMemory(uint64_t Size) {
  Scope Enter(*this);
  CUmemAllocationProp Properties = memoryProperties();
  CUmemGenericAllocationHandle Memory = 0;
  if (Error E =
          R3_CUDA_CALL(MemCreate(&Memory, Size, &Properties, /*flags=*/0)))
    return E;
  return Memory;
}

Error CudaDevice::releaseMemory(MemoryHandle Memory) {
  Scope Enter(*this);
  return R3_CUDA_CALL(MemRelease(Memory));
}

Expected<int> CudaDevice::exportMemory(MemoryHandle Memory) {
  Scope Enter(*this);
  int Fd = -1;
  if (Error E = R3_CUDA_CALL(MemExportToShareableHandle(
          &Fd, Memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, /*flags=*/0)))
    return E;
  // Processes started later do not keep the memory by accident.
  fcntl(Fd, F_SETFD, FD_CLOEXEC);
  return Fd;
}

Expected<MemoryHandle> CudaDevice::importMemory(int Fd, uint64_t) {
  Scope Enter(*this);
  CUmemGenericAllocationHandle Memory = 0;
  if (Error E = R3_CUDA_CALL(MemImportFromShareableHandle(
          &Memory, reinterpret_cast<void *>(static_cast<uintptr_t>(Fd)),
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)))
    return E;
  return Memory;
}

Error CudaDevice::map(Address Where, uint64_t Size, MemoryHandle Memory) {
  Scope Enter(*this);
  if (Error E =
          R3_CUDA_CALL(MemMap(Where, Size, /*offset=*/0, Memory, /*flags=*/0)))
    return E;
  Error Failure = protect(Where, Size, MemoryAccess::ReadWrite);
  if (Failure)
    Api.MemUnmap(Where, Size);
  return Failure;
}

Error CudaDevice::protect(Address Where, uint64_t Size, MemoryAccess Access) {
  Scope Enter(*this);
  CUmemAccessDesc Description = {};
  Description.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  Description.location.id = Ordinal;
  Description.flags =
      Access == MemoryAccess::None   ? CU_MEM_ACCESS_FLAGS_PROT_NONE
      : Access == MemoryAccess::Read ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                     : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return R3_CUDA_CALL(MemSetAccess(Where, Size, &Description, /*count=*/1));
}

Error CudaDevice::unmap(Address Where, uint64_t Size) {
  Scope Enter(*this);
  return R3_CUDA_CALL(MemUnmap(Where, Size));
}

Expected<Address> CudaDevice::allocate(uint64_t Size) {
  Scope Enter(*this);
  CUdeviceptr Where = 0;
  if (Error E = R3_CUDA_CALL(MemAlloc(&Where, Size)))
    return E;
  return Where;
}

Error CudaDevice::free(Address Where) {
  Scope Enter(*this);
  return R3_CUDA_CALL(MemFree(Where));
}

Expected<void *> CudaDevice::allocateHost(uint64_t Size) {
  Scope Enter(*this);
  void *Where = nullptr;
  // Portable: a recorder's buffers serve all devices of the program.
  if (Error E =
          R3_CUDA_CALL(MemHostAlloc(&Where, Size, CU_MEMHOSTALLOC_PORTABLE)))
    return E;
  return Where;
}

Error CudaDevice::freeHost(void *Where) {
  Scope Enter(*this);
  return R3_CUDA_CALL(MemFreeHost(Where));
}

Expected<AddressRange> CudaDevice::allocationOf(Address Where) {
  Scope Enter(*this);
  unsigned Type = 0, Managed = 0;
  CUpointer_attribute Attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                      CU_POINTER_ATTRIBUTE_IS_MANAGED};
  void *Values[] = {&Type, &Managed};
  // Gives zeros, not an error, for an address that is none of CUDA's.
  CUresult Result = Api.PointerGetAttributes(2, Attributes, Values, Where);
  CUdeviceptr Begin = 0;
  size_t Size = 0;
  if (Result == CUDA_SUCCESS && (Type == CU_MEMORYTYPE_DEVICE || Managed))
    Result = Api.MemGetAddressRange(&Begin, &Size, Where);
  if (classify(Result).Sticky)
    return check(Result, "cuMemGetAddressRange(&Begin, &Size, Where)");
  if (Result != CUDA_SUCCESS || !Size)
    return fail(ErrorCode::NotFound, "0x%" PRIx64 " is no device memory",
                Where);
  return AddressRange{Begin, Size};
}
