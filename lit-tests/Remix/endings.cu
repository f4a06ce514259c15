// Variants that end badly: signed overflow, which the program's -O1 leaves
// alone, lets other pipelines take the wrong branch. One then reads outside
// the recorded memory, where nothing would come out wrong; the other waits for
// threads that never come. Each has its outcome, and the search goes on.
//
// REQUIRES: plugin
// RUN: clang-r3 %cuda -O1 -gline-tables-only %s -o %t.exe %cudart
// RUN: r3 --device cpu record --min-share 0 -- %t.exe > /dev/null
// RUN: r3 --device cpu replay -n 1 | FileCheck %s --check-prefix=REPLAY
// RUN: r3 --device cpu remix --space thin --json > %t.json
// RUN: %python -c "import json,sys; [print(k['name'], e['outcome'], e['message']) \
// RUN:   for k in json.load(open(sys.argv[1]))['kernels'] for e in k['evaluations'] \
// RUN:   if e['outcome'] != 'duplicate']" %t.json | sort | FileCheck %s
// REPLAY-COUNT-2: bit for bit
// CHECK: outside ok
// CHECK: outside out-of-bounds recording {{.*}}thread (0,0,0): load of 4 bytes at 0x{{[0-9a-f]+}}, outside all allocations ({{.*}}endings.cu:[[#@LINE+12]])
// CHECK: stuck deadlock recording {{.*}}block (0,0,0): threads wait for each other for ever: 32 wait at
// CHECK: stuck ok

__device__ bool grows(int A, int B, int Step) {
  return A > B && Step > 0 && A + Step > B;
}

__global__ void outside(float *Out, const float *In, int A, int B, int Step) {
  int I = threadIdx.x;
  if (grows(A, B, Step))
    I += 64;
  Out[threadIdx.x] = 1 + 0 * In[I];
}

__global__ void stuck(float *Out, int A, int B, int Step) {
  unsigned Mask = 0xffffffff;
  if (grows(A, B, Step) && threadIdx.x & 1)
    Mask = 1;
  __syncwarp(Mask);
  Out[threadIdx.x] = 2;
}

int main() {
  float *In, *Out;
  cudaMalloc(&In, 256);
  cudaMalloc(&Out, 256);
  cudaMemset(In, 0, 256);
  outside<<<1, 64>>>(Out, In, 0x7fffffff, 5, 1);
  stuck<<<1, 64>>>(Out, 0x7fffffff, 5, 1);
  return cudaDeviceSynchronize() != cudaSuccess;
}
