// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/cudart/Served.h"

#include <thread>

using namespace r3;

TEST(CudartDevices, OneDevice) {
  int Count = 0, Device = -1;
  EXPECT_EQ(R3_CALL(cudaGetDeviceCount)(&Count), cudaSuccess);
  EXPECT_EQ(Count, 1);
  EXPECT_EQ(R3_CALL(cudaSetDevice)(0), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaSetDevice)(1), cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaGetDevice)(&Device), cudaSuccess);
  EXPECT_EQ(Device, 0);
  EXPECT_EQ(R3_CALL(cudaGetDeviceCount)(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidValue);
}

TEST(CudartDevices, LastErrorIsOfTheThread) {
  R3_CALL(cudaGetLastError)();
  EXPECT_EQ(R3_CALL(cudaSetDevice)(7), cudaErrorInvalidDevice);
  std::thread([] {
    EXPECT_EQ(R3_CALL(cudaPeekAtLastError)(), cudaSuccess);
  }).join();
  // A success does not clear it; asking does.
  EXPECT_EQ(R3_CALL(cudaSetDevice)(0), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaPeekAtLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaSuccess);
}

TEST(CudartDevices, PropertiesAndAttributesAgree) {
  cudaDeviceProp P;
  ASSERT_EQ(R3_CALL(cudaGetDeviceProperties)(&P, 0), cudaSuccess);
  EXPECT_EQ(std::string(P.name).find("R3 CPU device: "), 0u);
  EXPECT_GT(P.totalGlobalMem, 0u);
  auto value = [](cudaDeviceAttr Attribute) {
    int Value = -1;
    EXPECT_EQ(R3_CALL(cudaDeviceGetAttribute)(&Value, Attribute, 0),
              cudaSuccess);
    return Value;
  };
  EXPECT_EQ(value(cudaDevAttrWarpSize), P.warpSize);
  EXPECT_EQ(value(cudaDevAttrMultiProcessorCount), P.multiProcessorCount);
  EXPECT_EQ(value(cudaDevAttrComputeCapabilityMajor), P.major);
  EXPECT_EQ(value(cudaDevAttrMaxThreadsPerBlock), P.maxThreadsPerBlock);
  EXPECT_EQ(value(cudaDevAttrMaxGridDimX), P.maxGridSize[0]);
  EXPECT_EQ(value(cudaDevAttrMaxBlockDimZ), P.maxThreadsDim[2]);
  EXPECT_EQ(size_t(value(cudaDevAttrMaxSharedMemoryPerBlockOptin)),
            P.sharedMemPerBlockOptin);
  EXPECT_EQ(value(cudaDevAttrL2CacheSize), P.l2CacheSize);
  EXPECT_EQ(value(cudaDevAttrCooperativeLaunch), P.cooperativeLaunch);
  EXPECT_EQ(value(cudaDevAttrClusterLaunch), P.clusterLaunch);
  int Value;
  EXPECT_EQ(R3_CALL(cudaDeviceGetAttribute)(&Value, cudaDevAttrMax, 0),
            cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaGetDeviceProperties)(&P, 3), cudaErrorInvalidDevice);
}

TEST(CudartDevices, LimitsAndFlags) {
  size_t Value = 0;
  EXPECT_EQ(R3_CALL(cudaDeviceGetLimit)(&Value, cudaLimitStackSize),
            cudaSuccess);
  EXPECT_EQ(Value, 1024u);
  EXPECT_EQ(R3_CALL(cudaDeviceSetLimit)(cudaLimitStackSize, 4096), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaDeviceGetLimit)(&Value, cudaLimitStackSize),
            cudaSuccess);
  EXPECT_EQ(Value, 4096u);
  EXPECT_EQ(R3_CALL(cudaDeviceGetLimit)(&Value,
                                        cudaLimitDevRuntimePendingLaunchCount),
            cudaErrorUnsupportedLimit);
  unsigned Flags = 0;
  EXPECT_EQ(R3_CALL(cudaSetDeviceFlags)(cudaDeviceScheduleSpin), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaGetDeviceFlags)(&Flags), cudaSuccess);
  EXPECT_EQ(Flags, unsigned(cudaDeviceScheduleSpin | cudaDeviceMapHost));
  EXPECT_EQ(R3_CALL(cudaSetDeviceFlags)(0x8000), cudaErrorInvalidValue);
}

TEST(CudartDevices, NamesOnTheBus) {
  char Id[32];
  int Device = -1;
  EXPECT_EQ(R3_CALL(cudaDeviceGetPCIBusId)(Id, sizeof(Id), 0), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaDeviceGetByPCIBusId)(&Device, Id), cudaSuccess);
  EXPECT_EQ(Device, 0);
  EXPECT_EQ(R3_CALL(cudaDeviceGetByPCIBusId)(&Device, "0000:81:00.0"),
            cudaErrorInvalidDevice);
  EXPECT_EQ(R3_CALL(cudaDeviceGetPCIBusId)(Id, 4, 0), cudaErrorInvalidValue);
}

TEST(CudartDevices, ResetGivesBack) {
  size_t Before, After, Total;
  ASSERT_EQ(R3_CALL(cudaMemGetInfo)(&Before, &Total), cudaSuccess);
  void *Memory = nullptr;
  cudaStream_t Stream;
  ASSERT_EQ(R3_CALL(cudaMalloc)(&Memory, 1 << 20), cudaSuccess);
  ASSERT_EQ(R3_CALL(cudaStreamCreate)(&Stream), cudaSuccess);
  ASSERT_EQ(R3_CALL(cudaMemGetInfo)(&After, &Total), cudaSuccess);
  EXPECT_LE(After + (1 << 20), Before);
  EXPECT_EQ(R3_CALL(cudaDeviceReset)(), cudaSuccess);
  ASSERT_EQ(R3_CALL(cudaMemGetInfo)(&After, &Total), cudaSuccess);
  EXPECT_EQ(After, Before);
  EXPECT_EQ(R3_CALL(cudaStreamSynchronize)(Stream),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(R3_CALL(cudaFree)(Memory), cudaErrorInvalidValue);
}
