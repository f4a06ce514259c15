// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that a recorder could break: none is, and what is not recorded has
// its reason.
// REQUIRES: plugin
// RUN: rm -rf %t.a %t.b %t.c %t.d %t.e
// RUN: %clang %cuda -fpass-plugin=%plugin -O2 %s -o %t %cudart
//
// A launch with a bad configuration: the program gets its error.
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.a %t config 2>&1 | FileCheck %s --check-prefix=CONFIG
// CONFIG: step: not recorded: the launch itself failed
// CONFIG: invalid {{(configuration )?}}argument
// CONFIG: sum 64
//
// A kernel that waits for the host: launched, held for the limit, dropped.
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_RECORD_TIMEOUT=300ms R3_STORE=%t.b %t flag 2>&1 | FileCheck %s --check-prefix=FLAG
// RUN: not ls %t.b/recordings/*/*.r3rec
// FLAG: spin: not recorded: the device did not become quiet
// FLAG: sum 1
//
// Memory that another thread changes meanwhile.
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.c %t changed 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: not ls %t.c/recordings/*/*.r3rec
// CHANGED: step: not recorded: memory changed
// CHANGED: sum
//
// The child of a fork switches itself off, the parent goes on.
// RUN: env R3_DEVICE=%device %t fork > %t.plain
// RUN: env R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.d %t fork | diff %t.plain -
// RUN: FileCheck %s --check-prefix=FORK --input-file=%t.plain
// RUN: env R3_STORE=%t.d r3 list | FileCheck %s --check-prefix=LIST
// FORK: child
// FORK: sum 192
// LIST: step {{.*}} 3 2 {{.*}} replayable
//
// A program killed in a recorded launch leaves whole records or none.
// RUN: not --crash env R3_DEVICE=%device R3_RECORD=1 R3_STORE=%t.e %t kill
// RUN: env R3_STORE=%t.e r3 list | FileCheck %s --check-prefix=KILLED
// RUN: not ls %t.e/recordings/*/*.r3rec
// RUN: bash -c 'test -z "$(ls %t.e/tmp)"'
// KILLED: spin {{.*}} 1 0
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
__global__ void step(int *p) { p[threadIdx.x] += 1; }
__global__ void spin(volatile int *flag) {
  while (!*flag);
}
static int report(int *d) {
  int h[64], sum = 0;
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  for (int v : h) sum += v;
  return printf("sum %d\n", sum), 0;
}
int main(int argc, char **argv) {
  setvbuf(stdout, nullptr, _IONBF, 0);
  int *d;
  volatile int *flag;
  cudaMalloc(&d, 64 * sizeof(int));
  cudaMemset(d, 0, 64 * sizeof(int));
  cudaHostAlloc((void **)&flag, 64 * sizeof(int), cudaHostAllocMapped);
  memset((void *)flag, 0, 64 * sizeof(int));
  if (!strcmp(argv[1], "config")) {
    step<<<1, 5000>>>(d);
    puts(cudaGetErrorString(cudaGetLastError()));
    step<<<1, 64>>>(d);
  } else if (!strcmp(argv[1], "flag")) {
    spin<<<1, 1>>>((int *)flag);
    *flag = 1;
    d = (int *)flag;
  } else if (!strcmp(argv[1], "changed")) {
    bool stop = false; // large, so that the other thread gets its turn
    cudaHostAlloc((void **)&flag, 32 << 20, cudaHostAllocMapped);
    std::thread other([&] {
      while (!*(volatile bool *)&stop) ++*flag;
    });
    while (!*flag);
    step<<<1, 64>>>((int *)flag);
    cudaDeviceSynchronize();
    stop = true;
    other.join();
  } else if (!strcmp(argv[1], "fork")) {
    step<<<1, 64>>>(d);
    int status;
    pid_t child = fork();
    if (!child) return 0; // exit handlers run
    waitpid(child, &status, 0);
    printf("child %d\n", status);
    step<<<1, 64>>>(d);
    step<<<1, 64>>>(d);
  } else {
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1500));
      raise(SIGKILL);
    }).detach();
    spin<<<1, 1>>>((int *)flag);
  }
  return report(d);
}
