// The search of a GPU kernel tries register limits and ptxas levels; a limit
// that is applied is what ptxas gets in the next build.
// REQUIRES: gpu, plugin
// RUN: mkdir %t && cd %t && r3 init > /dev/null && cp %s wide.cu
// RUN: cd %t && clang-r3 %cuda -O2 wide.cu -o wide %cudart -Xcuda-ptxas -v 2> %t.first
// RUN: cd %t && ./wide > %t.before && r3 record --device %device --min-share 0 -- ./wide > /dev/null
// RUN: cd %t && r3 remix --device %device --space thin --json > %t.json
// RUN: %python -c "import json,sys; k=json.load(open(sys.argv[1]))['kernels'][0]; e={e['note']: e for e in k['evaluations']}; \
// RUN:   assert {'ptxas O1', 'ptxas O2', 'maxnreg 32', 'maxnreg 255'} <= set(e), sorted(e); \
// RUN:   assert not set(k['outcomes']) - {'ok', 'duplicate'}, k['outcomes']; \
// RUN:   assert e['maxnreg 32']['registers'] <= 32 and e['maxnreg 32']['spills'], e['maxnreg 32']; \
// RUN:   print(e['maxnreg 32']['variant'])" %t.json > %t.id
// RUN: cd %t && r3 apply wide --device %device --variant $(cat %t.id) --accept weak > %t.applied
// RUN: cd %t && clang-r3 %cuda -O2 wide.cu -o wide %cudart -Xcuda-ptxas -v 2> %t.second
// RUN: not grep 'Used 32 registers' %t.first
// RUN: grep 'Used 32 registers' %t.second
// RUN: cd %t && ./wide | diff %t.before -
#include <cstdio>
__global__ void wide(float *P) {
  float Values[96];
#pragma unroll
  for (int I = 0; I < 96; ++I)
    Values[I] = P[I * 32 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int I = 0; I < 96; ++I)
    P[(95 - I) * 32 + threadIdx.x] = Values[I] * Values[(I * 7 + 5) % 96];
}
int main() {
  const int N = 96 * 32;
  float H[N], *D, Sum = 0;
  for (int I = 0; I < N; ++I)
    H[I] = I % 17;
  cudaMalloc(&D, sizeof(H));
  cudaMemcpy(D, H, sizeof(H), cudaMemcpyHostToDevice);
  wide<<<1, 32>>>(D);
  cudaMemcpy(H, D, sizeof(H), cudaMemcpyDeviceToHost);
  for (float V : H)
    Sum += V;
  printf("%g %s\n", Sum, cudaGetErrorName(cudaGetLastError()));
}
