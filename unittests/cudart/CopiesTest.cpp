// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "unittests/cudart/Served.h"

#include <algorithm>
#include <numeric>
#include <vector>

using namespace r3;

namespace {
/// Device memory for a test.
struct DeviceBytes {
  char *P = nullptr;
  explicit DeviceBytes(size_t Size) {
    EXPECT_EQ(R3_CALL(cudaMalloc)((void **)&P, Size), cudaSuccess);
  }
  ~DeviceBytes() { EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess); }
};
} // namespace

static std::vector<char> counted(size_t Size) {
  std::vector<char> Bytes(Size);
  std::iota(Bytes.begin(), Bytes.end(), 1);
  return Bytes;
}

TEST(CudartCopies, ThereAndBack) {
  DeviceBytes D(300000);
  std::vector<char> In = counted(300000), Out(300000);
  for (auto *Copy : {R3_CALL(cudaMemcpy),
                     served<decltype(::cudaMemcpy)>("cudaMemcpy_ptds")}) {
    std::fill(Out.begin(), Out.end(), 0);
    EXPECT_EQ(Copy(D.P, In.data(), In.size(), cudaMemcpyHostToDevice),
              cudaSuccess);
    EXPECT_EQ(Copy(Out.data(), D.P, Out.size(), cudaMemcpyDefault),
              cudaSuccess);
    EXPECT_EQ(Out, In);
  }
}

TEST(CudartCopies, Mistakes) {
  DeviceBytes D(100);
  char Host[200];
  auto *Copy = R3_CALL(cudaMemcpy);
  EXPECT_EQ(Copy(D.P, Host, 100, cudaMemcpyKind(9)),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(Copy(D.P, Host, 101, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(Copy(D.P + 50, Host, 51, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(Copy(Host, Host + 100, 100, cudaMemcpyDeviceToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(Copy(nullptr, Host, 1, cudaMemcpyHostToHost),
            cudaErrorInvalidValue);
  EXPECT_EQ(Copy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidValue);
}

// Pageable memory may be used again when the call returns, however busy the
// stream is.
TEST(CudartCopies, PageableMemoryIsFreeAgain) {
  cudaStream_t S;
  ASSERT_EQ(R3_CALL(cudaStreamCreate)(&S), cudaSuccess);
  for (size_t Size : {size_t(100), size_t(1) << 20}) {
    DeviceBytes D(Size);
    std::vector<char> In = counted(Size), Wanted = In, Out(Size);
    EXPECT_EQ(R3_CALL(cudaLaunchHostFunc)(
                  S,
                  [](void *) {
                    struct timespec Pause = {0, 20000000};
                    nanosleep(&Pause, nullptr);
                  },
                  nullptr),
              cudaSuccess);
    EXPECT_EQ(R3_CALL(cudaMemcpyAsync)(D.P, In.data(), Size,
                                       cudaMemcpyHostToDevice, S),
              cudaSuccess);
    std::fill(In.begin(), In.end(), 0);
    EXPECT_EQ(R3_CALL(cudaMemcpyAsync)(Out.data(), D.P, Size,
                                       cudaMemcpyDeviceToHost, S),
              cudaSuccess);
    EXPECT_EQ(Out, Wanted);
  }
  EXPECT_EQ(R3_CALL(cudaStreamDestroy)(S), cudaSuccess);
}

TEST(CudartCopies, TwoDimensions) {
  char *P = nullptr;
  size_t Pitch = 0;
  ASSERT_EQ(R3_CALL(cudaMallocPitch)((void **)&P, &Pitch, 10, 4), cudaSuccess);
  std::vector<char> In = counted(40), Out(4 * 12, 0);
  EXPECT_EQ(R3_CALL(cudaMemset2D)(P, Pitch, 99, 10, 4), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemcpy2D)(P, Pitch, In.data(), 10, 9, 4,
                                  cudaMemcpyHostToDevice),
            cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemcpy2D)(Out.data(), 12, P, Pitch, 10, 4,
                                  cudaMemcpyDeviceToHost),
            cudaSuccess);
  for (int Y = 0; Y != 4; ++Y)
    for (int X = 0; X != 12; ++X)
      EXPECT_EQ(Out[size_t(Y * 12 + X)], X < 9    ? In[size_t(Y * 10 + X)]
                                         : X == 9 ? 99
                                                  : 0);
  EXPECT_EQ(
      R3_CALL(cudaMemcpy2D)(P, 8, In.data(), 10, 9, 4, cudaMemcpyHostToDevice),
      cudaErrorInvalidPitchValue);
  EXPECT_EQ(R3_CALL(cudaMemset2D)(P, 8, 0, 9, 4), cudaErrorInvalidPitchValue);
  EXPECT_EQ(R3_CALL(cudaMemcpy2D)(P, Pitch, In.data(), 10, 10, 5,
                                  cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(P), cudaSuccess);
}

TEST(CudartCopies, ThreeDimensions) {
  cudaPitchedPtr Cube;
  ASSERT_EQ(R3_CALL(cudaMalloc3D)(&Cube, {6, 4, 3}), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemset3D)(Cube, 7, {6, 4, 3}), cudaSuccess);
  std::vector<char> In = counted(5 * 3 * 2), Out(6 * 4 * 3);
  cudaMemcpy3DParms To{};
  To.srcPtr = {In.data(), 5, 5, 3};
  To.dstPtr = Cube;
  To.dstPos = {1, 1, 1};
  To.extent = {5, 3, 2};
  To.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(R3_CALL(cudaMemcpy3D)(&To), cudaSuccess);
  cudaMemcpy3DParms From{};
  From.srcPtr = Cube;
  From.dstPtr = {Out.data(), 6, 6, 4};
  From.extent = {6, 4, 3};
  From.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(R3_CALL(cudaMemcpy3D)(&From), cudaSuccess);
  for (size_t Z = 0; Z != 3; ++Z)
    for (size_t Y = 0; Y != 4; ++Y)
      for (size_t X = 0; X != 6; ++X) {
        bool Inside = X && Y && Z;
        char Wanted = Inside ? In[((Z - 1) * 3 + Y - 1) * 5 + X - 1] : char(7);
        EXPECT_EQ(Out[(Z * 4 + Y) * 6 + X], Wanted) << X << Y << Z;
      }
  To.dstPos = {1, 1, 2};
  EXPECT_EQ(R3_CALL(cudaMemcpy3D)(&To), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaMemcpy3D)(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaFree)(Cube.ptr), cudaSuccess);
}

TEST(CudartCopies, Fills) {
  DeviceBytes D(10);
  char Out[10];
  EXPECT_EQ(R3_CALL(cudaMemset)(D.P, 0x1ff, 10), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemset)(D.P + 2, 3, 4), cudaSuccess);
  EXPECT_EQ(R3_CALL(cudaMemcpy)(Out, D.P, 10, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(std::string(Out, 10), "\xff\xff\3\3\3\3\xff\xff\xff\xff");
  EXPECT_EQ(R3_CALL(cudaMemset)(D.P, 0, 11), cudaErrorInvalidValue);
  EXPECT_EQ(R3_CALL(cudaMemset)(Out, 0, 1), cudaErrorInvalidValue);
}

TEST(CudartCopies, SymbolsAndKernelsThatNobodyHas) {
  static int Variable;
  void *Where;
  EXPECT_EQ(R3_CALL(cudaGetSymbolAddress)(&Where, &Variable),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(R3_CALL(cudaMemcpyToSymbol)(&Variable, &Variable, 4, 0,
                                        cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
  EXPECT_EQ(R3_CALL(cudaMemcpyToSymbol)(&Variable, &Variable, 4, 0,
                                        cudaMemcpyDeviceToHost),
            cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(R3_CALL(cudaLaunchKernel)(&Variable, dim3(1), dim3(1), nullptr, 0,
                                      nullptr),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(R3_CALL(cudaGetLastError)(), cudaErrorInvalidDeviceFunction);
}
