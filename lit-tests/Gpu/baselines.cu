// The evidence of what is accepted has the times of others that compile the
// original's source: clang -O3, and nvcc -O3 of a static kernel that reads a
// static variable, which it names otherwise.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s repeats.cu
// RUN: cd %t && clang-r3 %cuda -O1 repeats.cu -o repeats %cudart
// RUN: cd %t && r3 record --device %device --min-share 0 -- ./repeats
// RUN: cd %t && sed 's/K < Times/K < 1/; s/= Sum/= Sum * Times/' repeats.cu > once.cu
// RUN: cd %t && r3 try once.cu --as repeats.cu -k repeats --device %device --json > %t.json
// RUN: %python -c "import json,sys; k=json.load(open(sys.argv[1]))['kernels'][0]; \
// RUN:   assert k['outcome'] == 'ok', k['message']; e = k['evidence']; assert e['accepted'], e['times']; \
// RUN:   [print(b['name'], b['message'] or 'timed', b['ratio'] > 0) for b in e['baselines']]" %t.json | FileCheck %s
// CHECK: clang -O3 {{timed True|the same code as the original's False}}
// CHECK-NEXT: nvcc -O3 timed True
#include <cstdio>
constexpr int Times = 16, N = 1 << 24;
static __device__ int Offset;
static __global__ void set(int To) { Offset = To; }
static __global__ void repeats(const int *X, int *Y, int Count) {
  const int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Count)
    return;
  int Sum = 0;
  for (int K = 0; K < Times; ++K)
    Sum += *static_cast<const volatile int *>(X + I) + Offset;
  Y[I] = Sum;
}
int main() {
  int *X, *Y, Last;
  cudaMalloc(&X, N * sizeof(int));
  cudaMalloc(&Y, N * sizeof(int));
  cudaMemset(X, 1, N * sizeof(int));
  set<<<1, 1>>>(7);
  for (int I = 0; I < 4; ++I)
    repeats<<<N / 256, 256>>>(X, Y, N - I);
  cudaMemcpy(&Last, Y, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d %s\n", Last, cudaGetErrorName(cudaGetLastError()));
}
