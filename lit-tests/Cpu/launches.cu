// Launches through every call: arguments of odd sizes, symbols, attributes,
// occupancy, cooperative and extended launches, and the codes of mistakes.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O1 %s -o %t.exe %cudart
// RUN: R3_DEVICE=cpu %t.exe | FileCheck %s
#include <cstdio>

struct Odd {
  char Letter;
  double Number;
  short Tail[3];
};
__device__ int Counter = 40;
__constant__ double Factors[2];
static __device__ Odd Kept;

__global__ void arguments(char A, Odd B, short C, double *Out, float D) {
  Out[0] = A + B.Letter + B.Number + B.Tail[2] + C + D;
  Out[1] = Factors[1];
  Kept = B;
  atomicAdd(&Counter, 2);
}
__global__ void dynamic(int *Out) {
  extern __shared__ int Shared[];
  Shared[threadIdx.x] = threadIdx.x;
  __syncthreads();
  Out[threadIdx.x] = Shared[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(64) bound(int *Out) { *Out = 1; }

#define SHOW(Call) std::printf("%s: %s\n", #Call, cudaGetErrorName(Call))

int main() {
  double *D, H[2] = {0.5, 2.5};
  int *I, Value = 0;
  cudaMallocManaged(&D, 16);
  cudaMallocManaged(&I, 4096 * 4);
  SHOW(cudaMemcpyToSymbol(Factors, H, sizeof(H)));
  SHOW(cudaMemcpyToSymbol(Factors, H, sizeof(H), 8));
  arguments<<<1, 1>>>(1, {2, 3.25, {0, 0, 4}}, 5, D, 0.25f);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpyFromSymbol(&Value, Counter, sizeof(int)));
  std::printf("%g %g %d\n", D[0], D[1], Value);
  // CHECK: cudaMemcpyToSymbol(Factors, H, sizeof(H)): cudaSuccess
  // CHECK-NEXT: sizeof(H), 8): cudaErrorInvalidValue
  // CHECK-NEXT: cudaSuccess
  // CHECK-NEXT: cudaSuccess
  // CHECK-NEXT: 15.5 2.5 42
  void *Address;
  size_t Size;
  SHOW(cudaGetSymbolAddress(&Address, Kept));
  SHOW(cudaGetSymbolSize(&Size, Kept));
  std::printf("%zu %c\n", Size,
              static_cast<Odd *>(Address)->Tail[2] == 4 ? 'y' : 'n');
  // CHECK: 24 y

  cudaFuncAttributes A;
  SHOW(cudaFuncGetAttributes(&A, bound));
  std::printf("threads %d\n", A.maxThreadsPerBlock);
  int Blocks = 0, BlockSize = 0, MinGrid = 0;
  SHOW(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&Blocks, dynamic, 256, 0));
  SHOW(cudaOccupancyMaxPotentialBlockSize(&MinGrid, &BlockSize, bound));
  std::printf("%d blocks, block size %d\n", Blocks, BlockSize);
  // CHECK: threads 64
  // CHECK: 8 blocks, block size 64

  dynamic<<<1, 1024, 4096>>>(I);
  SHOW(cudaDeviceSynchronize());
  std::printf("%d %d\n", I[0], I[1023]);
  // CHECK: 1023 0
  dynamic<<<1, 32, 100 * 1024>>>(I);
  SHOW(cudaGetLastError());
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            100 * 1024));
  dynamic<<<1, 32, 100 * 1024>>>(I);
  SHOW(cudaGetLastError());
  SHOW(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            300 * 1024));
  // CHECK: cudaErrorInvalidValue
  // CHECK: cudaSuccess
  // CHECK: cudaSuccess
  // CHECK: cudaErrorInvalidValue
  SHOW(cudaGetLastError());
  // CHECK: cudaErrorInvalidValue
  bound<<<1, 65>>>(I);
  SHOW(cudaGetLastError());
  bound<<<1, 2048>>>(I);
  SHOW(cudaGetLastError());
  bound<<<0, 1>>>(I);
  SHOW(cudaGetLastError());
  // CHECK: cudaErrorLaunchOutOfResources
  // CHECK: cudaErrorInvalidConfiguration
  // CHECK: cudaErrorInvalidConfiguration
  void *Arguments[] = {&I};
  SHOW(cudaLaunchCooperativeKernel(bound, 1, 1, Arguments));
  SHOW(cudaLaunchCooperativeKernel(bound, 1 << 20, 1, Arguments));
  SHOW(cudaLaunchKernel((void *)&Value, 1, 1, Arguments));
  // CHECK: cudaSuccess
  // CHECK: cudaErrorCooperativeLaunchTooLarge
  // CHECK: cudaErrorInvalidDeviceFunction
  cudaLaunchConfig_t Config = {};
  cudaLaunchAttribute Attribute = {};
  Config.gridDim = Config.blockDim = 1;
  Config.attrs = &Attribute;
  Config.numAttrs = 1;
  Attribute.id = cudaLaunchAttributeCooperative;
  Attribute.val.cooperative = 1;
  *I = 0;
  SHOW(cudaLaunchKernelEx(&Config, bound, I));
  SHOW(cudaDeviceSynchronize());
  std::printf("extended %d\n", *I);
  // CHECK: cudaSuccess
  // CHECK: extended 1
  Attribute.id = cudaLaunchAttributeClusterDimension;
  Attribute.val.clusterDim.x = Attribute.val.clusterDim.y = 2;
  Attribute.val.clusterDim.z = 1;
  SHOW(cudaLaunchKernelEx(&Config, bound, I));
  // CHECK: cudaErrorNotSupported
}
