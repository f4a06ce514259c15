// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launches in batches: the original against itself, and against what the same
// source comes to when nothing is optimised. The kernel is long and small.
//
// REQUIRES: plugin
// RUN: mkdir %t && cd %t && cp %s times.cu && r3 init > /dev/null
// RUN: clang-r3 %cuda -O2 times.cu -o times %cudart
// RUN: r3 --device %device record -- ./times
// RUN: for mode in cold warm; do %prefix/libexec/r3/r3-bench-times $R3_STORE %device $mode 5 || exit 1; done | tee same | FileCheck %s --check-prefix=SAME
// SAME: launch={{[0-9.]+}} us memory={{[0-9.]+}} TB/s
// SAME: steps{{.*}} outcome=ok steady={{[0-5]}}/5 {{.*}}floor={{[0-9]*[.][0-9]*[1-9]}}
// SAME: steps{{.*}} outcome=ok
// RUN: %prefix/libexec/r3/r3-bench-times $R3_STORE %device warm 5 'default<O0>' O0 | tee slower | FileCheck %s --check-prefix=SLOWER
// SLOWER: steps{{.*}} outcome=ok steady={{[0-5]}}/5
// What is not optimised takes several times as long, where nobody else runs.
// RUN: %python -c "import re,sys; of = lambda name: [float(x) / float(y) for x, y in re.findall(r'original=(\S+) variant=(\S+)', open(name).read())]; same, slower = of('same'), of('slower'); print(same, slower); sys.exit(not (len(same) == 2 and len(slower) == 1 and ('%device' == 'cpu' or slower[0] < min(same))))"
#include <cstdio>

__global__ void steps(const float *in, float *out, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < count; ++k)
    x = x * 0.75f + in[(i + k) % 1024];
  out[i] = x;
}

int main() {
  float *in, *out, host[1024];
  for (int i = 0; i < 1024; ++i)
    host[i] = float(i % 17);
  cudaMalloc(&in, sizeof(host));
  cudaMalloc(&out, sizeof(host));
  cudaMemcpy(in, host, sizeof(host), cudaMemcpyHostToDevice);
  steps<<<4, 256>>>(in, out, 4000);
  cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[5]);
  return cudaGetLastError() != cudaSuccess;
}
