// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every way of getting memory and of launching: the program computes the same
// with and without recording, and each kernel is recorded and reproduces.
// REQUIRES: plugin
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 %s -o %t %cudart
// RUN: env R3_DEVICE=%device %t > %t.plain
// RUN: not ls $R3_STORE
// RUN: env R3_DEVICE=%device R3_RECORD=1 %t > %t.recorded
// RUN: diff %t.plain %t.recorded
// RUN: r3 list > %t.list
// RUN: FileCheck %s --check-prefixes=CHECK,%device --input-file=%t.list
// RUN: r3 inspect $R3_STORE/recordings/*/*.r3rec > %t.inspected
// RUN: FileCheck %s --check-prefix=INSPECT --input-file=%t.inspected
// RUN: %if gpu %{ not %} grep -w pool %t.inspected
// RUN: r3 replay --device %device -n 2 | FileCheck %s --check-prefix=REPLAY
#include <cstdio>
__constant__ int Factor;
__device__ int Counter;
static __device__ int Hidden; // no shadow variable knows its address
struct List { int *data; List *next; };
__global__ void onStream(int *p) { p[threadIdx.x] += 1; }
__global__ void pitched(char *p, size_t pitch) {
  p[blockIdx.x * pitch + threadIdx.x] += 2;
}
__global__ void managed(int *p) { p[threadIdx.x] += 3; }
__global__ void pinned(int *p) { p[threadIdx.x] += 4; }
__global__ void pooled(int *p) { p[threadIdx.x] = 5; }
__global__ void symbols(int *p) {
  p[threadIdx.x] = Factor;
  if (!threadIdx.x) Counter += Factor + ++Hidden;
}
__global__ void linked(List *l) {
  for (; l; l = l->next) l->data[threadIdx.x] += 7;
}
__global__ void cooperative(int *p) { p[threadIdx.x] += 8; }
__global__ void extended(int *p) {
  extern __shared__ int s[];
  s[threadIdx.x] = p[threadIdx.x];
  __syncthreads();
  p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x] + 9;
}
static void check(cudaError_t e, int line) {
  if (e) printf("line %d: %s\n", line, cudaGetErrorString(e));
}
#define CHECK(x) check(x, __LINE__)
int main() {
  int h[64] = {}, *d, *m, *p, *a, sum = 0;
  cudaStream_t s;
  CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CHECK(cudaMalloc(&d, sizeof(h)));
  CHECK(cudaMemcpyAsync(d, h, sizeof(h), cudaMemcpyHostToDevice, s));
  onStream<<<1, 64, 0, s>>>(d);
  CHECK(cudaStreamSynchronize(s));

  char *q, rows[4 * 16] = {};
  size_t pitch;
  CHECK(cudaMallocPitch(&q, &pitch, 16, 4));
  CHECK(cudaMemcpy2DAsync(q, pitch, rows, 16, 16, 4, cudaMemcpyDefault, s));
  CHECK(cudaStreamSynchronize(s));
  pitched<<<4, 16>>>(q, pitch);
  CHECK(cudaMemcpy2D(rows, 16, q, pitch, 16, 4, cudaMemcpyDeviceToHost));

  CHECK(cudaMallocManaged(&m, sizeof(h)));
  for (int i = 0; i < 64; ++i) m[i] = i;
  managed<<<1, 64>>>(m);
  CHECK(cudaHostAlloc(&p, sizeof(h), cudaHostAllocMapped));
  for (int i = 0; i < 64; ++i) p[i] = i;
  pinned<<<1, 64>>>(p);
  CHECK(cudaMallocAsync(&a, sizeof(h), s));
  pooled<<<1, 64, 0, s>>>(a);
  CHECK(cudaDeviceSynchronize());

  int factor = 6, counter;
  CHECK(cudaMemcpyToSymbol(Factor, &factor, sizeof(factor)));
  symbols<<<1, 64>>>(d);
  CHECK(cudaMemcpyFromSymbol(&counter, Counter, sizeof(counter)));

  List l[2], *dl;
  CHECK(cudaMalloc(&dl, sizeof(l)));
  l[0] = {m, dl + 1};
  l[1] = {d, nullptr};
  CHECK(cudaMemcpy(dl, l, sizeof(l), cudaMemcpyHostToDevice));
  linked<<<1, 64>>>(dl);

  void *args[] = {&d};
  CHECK(cudaLaunchCooperativeKernel((void *)cooperative, 1, 64, args, 0, 0));
  CHECK(cudaFuncSetAttribute(extended,
                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                             100 * 1024));
  cudaLaunchConfig_t c = {};
  c.gridDim = 1;
  c.blockDim = 64;
  c.dynamicSmemBytes = 100 * 1024;
  CHECK(cudaLaunchKernelExC(&c, (void *)extended, args));

  CHECK(cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost));
  for (int i = 0; i < 64; ++i) sum += h[i] + rows[i] + m[i] + p[i];
  CHECK(cudaMemcpyAsync(h, a, sizeof(h), cudaMemcpyDeviceToHost, s));
  CHECK(cudaStreamSynchronize(s));
  CHECK(cudaFreeAsync(a, s));
  printf("sum %d counter %d pool %d\n", sum, counter, h[63]);
  CHECK(cudaGetLastError());
}
// CHECK-DAG: onStream {{.*}} replayable
// CHECK-DAG: pitched {{.*}} replayable
// CHECK-DAG: managed {{.*}} replayable
// CHECK-DAG: pinned {{.*}} replayable
// cpu-DAG: pooled {{.*}} replayable
// cuda-DAG: pooled {{.*}} pool-memory
// CHECK-DAG: symbols {{.*}} replayable
// CHECK-DAG: linked {{.*}} replayable
// CHECK-DAG: cooperative {{.*}} replayable
// CHECK-DAG: extended {{.*}} replayable
// REPLAY-COUNT-8: bit for bit
// INSPECT-DAG: mapped
// INSPECT-DAG: managed
// INSPECT-DAG: global {{.*}} Factor
// INSPECT-DAG: global {{.*}} Counter
// INSPECT-DAG: global {{.*}} _ZL6Hidden
// INSPECT-DAG: shared memory 0 + 102400 bytes
