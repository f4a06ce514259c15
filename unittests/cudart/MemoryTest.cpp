// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/cudart/Served.h"

#include <cstring>
#include <vector>

using namespace r3;

static cudaMemoryType typeOf(const void *Where) {
  cudaPointerAttributes A;
  EXPECT_EQ(R3_CALL(cudaPointerGetAttributes)(&A, Where), cudaSuccess);
  return A.type;
}

TEST(CudartMemory, Device) {
  char *P = nullptr;
  ASSERT_EQ(R3_CALL(cudaMalloc)((void **)&P, 1000), cudaSuccess);
  ASSERT_TRUE(P);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(P) % 256, 0u);
  EXPECT_EQ(typeOf(P + 999), cudaMemoryTypeDevice);
  EXPECT_EQ(R3_CALL(cudaFree)(P + 1), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFreeHost)(P), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(nullptr), cudaSuccess);
}

TEST(CudartMemory, NothingAndTooMuch) {
  void *P = &P;
  EXPECT_EQ(R3_CALL(cudaMalloc)(&P, 0), cudaSuccess);
  EXPECT_EQ(P, nullptr);
  EXPECT_EQ(R3_CALL(cudaMalloc)(&P, size_t(1) << 60),
            cudaErrorMemoryAllocation);
  EXPECT_EQ(R3_CALL(cudaMalloc)(nullptr, 8), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaMallocManaged)(&P, 0, cudaMemAttachGlobal),
            cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidValue);
}

TEST(CudartMemory, Pitched) {
  char *P = nullptr;
  size_t Pitch = 0;
  ASSERT_EQ(R3_CALL(cudaMallocPitch)((void **)&P, &Pitch, 700, 3), cudaSuccess);
  EXPECT_EQ(Pitch, 1024u);
  EXPECT_EQ(typeOf(P + 3 * Pitch - 1), cudaMemoryTypeDevice);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess);
  cudaPitchedPtr Cube;
  ASSERT_EQ(R3_CALL(cudaMalloc3D)(&Cube, {100, 5, 2}), cudaSuccess);
  EXPECT_EQ(Cube.pitch, 512u);
  EXPECT_EQ(Cube.xsize, 100u);
  EXPECT_EQ(Cube.ysize, 5u);
  EXPECT_EQ(R3_CALL(cudaFree)(Cube.ptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMallocPitch)((void **)&P, &Pitch, SIZE_MAX - 1, 3),
            cudaErrorInvalidValue);
}

TEST(CudartMemory, Pinned) {
  char *P = nullptr;
  void *Device = nullptr;
  unsigned Flags = 0;
  ASSERT_EQ(R3_CALL(cudaHostAlloc)((void **)&P, 64, cudaHostAllocPortable),
            cudaSuccess);
  EXPECT_EQ(typeOf(P), cudaMemoryTypeHost);
  EXPECT_EQ(R3_CALL(cudaHostGetDevicePointer)(&Device, P, 0), cudaSuccess);
  EXPECT_EQ(Device, P);
  EXPECT_EQ(R3_CALL(cudaHostGetFlags)(&Flags, P), cudaSuccess);
  EXPECT_EQ(Flags, unsigned(cudaHostAllocPortable | cudaHostAllocMapped));
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFreeHost)(P), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaHostAlloc)((void **)&P, 64, 0x100),
            cudaErrorInvalidValue);
}

TEST(CudartMemory, Registered) {
  std::vector<char> Own(10000);
  void *Device = nullptr;
  EXPECT_EQ(typeOf(Own.data()), cudaMemoryTypeUnregistered);
  EXPECT_EQ(R3_CALL(cudaHostGetDevicePointer)(&Device, Own.data(), 0),
            cudaErrorInvalidValue);
  ASSERT_EQ(R3_CALL(cudaHostRegister)(Own.data(), Own.size(),
                                      cudaHostRegisterDefault),
            cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaHostRegister)(Own.data(), 10, 0),
            cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(typeOf(Own.data() + 5), cudaMemoryTypeHost);
  EXPECT_EQ(R3_CALL(cudaHostGetDevicePointer)(&Device, Own.data() + 5, 0),
            cudaSuccess);
  EXPECT_EQ(Device, Own.data() + 5);
  EXPECT_EQ(R3_CALL(cudaHostUnregister)(Own.data()), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaHostUnregister)(Own.data()),
            cudaErrorHostMemoryNotRegistered);
}

#if CUDART_VERSION >= 13000
TEST(CudartMemory, ManagedAdvice) {
  char *P = nullptr;
  ASSERT_EQ(R3_CALL(cudaMallocManaged)((void **)&P, 4096, cudaMemAttachGlobal),
            cudaSuccess);
  std::memset(P, 1, 4096); // the host may touch it
  EXPECT_EQ(typeOf(P), cudaMemoryTypeManaged);
  cudaMemLocation Device{};
  Device.type = cudaMemLocationTypeDevice;
  EXPECT_EQ(R3_CALL(cudaMemAdvise)(P, 4096, cudaMemAdviseSetPreferredLocation,
                                   Device),
            cudaSuccess);
  int Answer = -7;
  EXPECT_EQ(R3_CALL(cudaMemRangeGetAttribute)(
                &Answer, 4, cudaMemRangeAttributePreferredLocation, P, 4096),
            cudaSuccess);
  EXPECT_EQ(Answer, 0);
  EXPECT_EQ(R3_CALL(cudaMemRangeGetAttribute)(
                &Answer, 4, cudaMemRangeAttributeLastPrefetchLocation, P, 1),
            cudaSuccess);
  EXPECT_EQ(Answer, cudaInvalidDeviceId);
  EXPECT_EQ(R3_CALL(cudaMemPrefetchAsync)(P, 4096, Device, 0, nullptr),
            cudaSuccess);
  Device.id = 3;
  EXPECT_EQ(R3_CALL(cudaMemPrefetchAsync)(P, 4096, Device, 0, nullptr),
            cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaMemPrefetchAsync)(P, 4097, Device, 0, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess);
}
#endif

TEST(CudartMemory, StreamOrdered) {
  void *P = nullptr;
  cudaMemPool_t Pool;
  uint64_t Used = 0;
  ASSERT_EQ(R3_CALL(cudaDeviceGetDefaultMemPool)(&Pool, 0), cudaSuccess);
  ASSERT_EQ(R3_CALL(cudaMallocAsync)(&P, 5000, nullptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemPoolGetAttribute)(
                Pool, cudaMemPoolAttrUsedMemCurrent, &Used),
            cudaSuccess);
  EXPECT_EQ(Used, 5000u);
  EXPECT_EQ(R3_CALL(cudaMemsetAsync)(P, 1, 5000, nullptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaFreeAsync)(P, nullptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaStreamSynchronize)(nullptr), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemPoolGetAttribute)(
                Pool, cudaMemPoolAttrUsedMemCurrent, &Used),
            cudaSuccess);
  EXPECT_EQ(Used, 0u);
  EXPECT_EQ(typeOf(P), cudaMemoryTypeUnregistered);
  EXPECT_EQ(R3_CALL(cudaFreeAsync)(P, nullptr), cudaErrorInvalidValue);
}

TEST(CudartMemory, Pools) {
  cudaMemPoolProps Properties{};
  Properties.allocType = cudaMemAllocationTypePinned;
  Properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t Pool = nullptr, Current = nullptr;
  ASSERT_EQ(R3_CALL(cudaMemPoolCreate)(&Pool, &Properties), cudaSuccess);
  uint64_t Threshold = 12345, Read = 0;
  EXPECT_EQ(R3_CALL(cudaMemPoolSetAttribute)(
                Pool, cudaMemPoolAttrReleaseThreshold, &Threshold),
            cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemPoolGetAttribute)(
                Pool, cudaMemPoolAttrReleaseThreshold, &Read),
            cudaSuccess);
  EXPECT_EQ(Read, Threshold);
  EXPECT_EQ(R3_CALL(cudaDeviceSetMemPool)(0, Pool), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaDeviceGetMemPool)(&Current, 0), cudaSuccess);
  EXPECT_EQ(Current, Pool);
  void *P = nullptr;
  ASSERT_EQ(R3_CALL(cudaMallocAsync)(&P, 64, nullptr), cudaSuccess);
  EXPECT_EQ(
      R3_CALL(cudaMemPoolGetAttribute)(Pool, cudaMemPoolAttrUsedMemHigh, &Read),
      cudaSuccess);
  EXPECT_EQ(Read, 64u);
  EXPECT_EQ(R3_CALL(cudaMemPoolDestroy)(Pool), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemPoolDestroy)(Pool), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess) << "outlives its pool";
  Properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_EQ(R3_CALL(cudaMemPoolCreate)(&Pool, &Properties),
            cudaErrorNotSupported);
}
