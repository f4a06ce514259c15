// Of a kernel that calculates the floor is one of arithmetic, of a kernel that
// moves memory one of bytes, and no edit that does the same work is below it.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s floor.cu
// RUN: cd %t && clang-r3 %cuda -O2 floor.cu -o floor %cudart
// RUN: cd %t && r3 record --device %device --min-share 0 -- ./floor
// RUN: cd %t && sed 's/unroll 1/unroll 4/' floor.cu > mine.cu
// RUN: cd %t && (r3 try mine.cu --as floor.cu --device %device --json || test $? = 5) > tried
// RUN: cd %t && echo 'import json, sys' > told.py
// RUN: cd %t && echo 'for k in json.load(open("tried"))["kernels"]:' >> told.py
// RUN: cd %t && echo '  for t in k["evidence"]["times"]:' >> told.py
// RUN: cd %t && echo '    print(k["name"], k["outcome"], k["message"], "by", t["floorBy"], t["floatOperations"],' >> told.py
// RUN: cd %t && echo '      "near" if t["floorUs"] > t["variantUs"] / 3 else "far",' >> told.py
// RUN: cd %t && echo '      [w for w in t["warnings"] if "is below what" in w], t["floorUs"], t["variantUs"])' >> told.py
// RUN: cd %t && %python told.py | sort | FileCheck %s
// CHECK: calculate ok by float arithmetic {{859[78][0-9]+}} near []
// CHECK: move ok by {{memory|the L2 cache}} 33554432 {{near|far}} []
#include <cstdio>
constexpr int N = 1 << 20, Turns = 512, Chains = 8, Many = 1 << 24;
/// Independent of each other, so that no unit waits.
__global__ void calculate(const float *X, float *Y) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  float Sums[Chains] = {1, 2, 3, 4, 5, 6, 7, 8};
  const float By = X[I];
#pragma unroll 1
  for (int T = 0; T < Turns; ++T)
    for (float &Sum : Sums)
      Sum = fmaf(Sum, By, 0.5f);
  float All = 0;
  for (float Sum : Sums)
    All += Sum;
  Y[I] = All;
}
__global__ void move(const float *X, float *Y) {
  const int Threads = gridDim.x * blockDim.x;
#pragma unroll 1
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Many; I += Threads)
    Y[I] = fmaf(X[I], 2, 1);
}
int main() {
  float *X, *Y;
  cudaMalloc(&X, Many * sizeof(float));
  cudaMalloc(&Y, Many * sizeof(float));
  cudaMemset(X, 0x3e, Many * sizeof(float));
  calculate<<<N / 256, 256>>>(X, Y);
  move<<<2048, 256>>>(X, Y);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
