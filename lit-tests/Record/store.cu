// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store: full, unwritable, limited, shared by two programs; and what the
// environment may ask for. The program's output is the same in all cases.
// REQUIRES: plugin
// RUN: rm -rf %t.two %t.k %t.s
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 %s -o %t %cudart
// RUN: env R3_DEVICE=%device %t > %t.plain
//
// A full disk during a record: said once, nothing half is left. (That recording
// is off from here on is said while the program still runs.)
// RUN: bash -c 'ulimit -f 3000; R3_DEVICE=%device R3_RECORD=1 %t > %t.full 2> %t.err'
// RUN: diff %t.plain %t.full
// RUN: FileCheck %s --check-prefix=FULL --input-file=%t.err
// RUN: not ls $R3_STORE/recordings/*/*.r3rec
// FULL: recording into
// FULL: not recorded: the store could not be written
// FULL-NOT: not recorded
//
// A place that cannot be a store.
// RUN: touch %t.file
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.file/store %t > %t.out 2> %t.err
// RUN: diff %t.plain %t.out
// RUN: FileCheck %s --check-prefix=UNWRITABLE --input-file=%t.err
// UNWRITABLE: r3: recording is off: {{.*}}.file
// UNWRITABLE-NOT: r3:
//
// The limit; and silence.
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_RECORD_LIMIT=1M %t 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: step: not recorded: the reachable memory is over the limit
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_RECORD_LIMIT=1M R3_QUIET=1 %t 2>&1 | diff %t.plain -
//
// Two programs at once (their first launches may be the same recording).
// RUN: bash -c 'R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.two %t & R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.two %t; wait'
// RUN: env R3_STORE=%t.two r3 list | FileCheck %s --check-prefix=TWO
// TWO: step {{.*}} 3 {{[34]}} {{.*}} replayable
//
// Other kernels only; a malformed value is said, and the program runs.
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_RECORD_KERNELS=nothing R3_STORE=%t.k %t
// RUN: not ls %t.k/recordings/*/*.r3rec
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_RECORD_SKIP=2 R3_STORE=%t.s %t
// RUN: bash -c 'test $(ls %t.s/recordings/*/*.r3rec | wc -l) = 1'
// RUN: env R3_RECORD=1 R3_RECORD_SKIP=x %t 2>&1 | FileCheck %s --check-prefix=MALFORMED
// MALFORMED: r3: {{.*}}R3_RECORD_SKIP
#include <cstdio>
#include <vector>
__global__ void step(unsigned *p, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = p[i] * 2654435761u + i;
}
int main() {
  const unsigned n = 1 << 20;
  std::vector<unsigned> h(n);
  unsigned *d, sum = 0;
  for (unsigned i = 0; i < n; ++i) h[i] = i * 747796405u;
  cudaMalloc(&d, n * sizeof(*d));
  cudaMemcpy(d, h.data(), n * sizeof(*d), cudaMemcpyHostToDevice);
  for (int i = 0; i < 3; ++i) step<<<n / 256, 256>>>(d, n);
  cudaMemcpy(h.data(), d, n * sizeof(*d), cudaMemcpyDeviceToHost);
  for (unsigned v : h) sum += v;
  printf("sum %u\n", sum);
}
