// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of a program: two kernels that share globals, some with addresses of
// others and of functions.
#define KERNEL extern "C" __global__ void

__device__ int Total = 10;
__constant__ int Scale[2] = {3, 4};
__device__ int Storage[4] = {1, 2, 3, 4};
__device__ int *Second = &Storage[1];
struct Node {
  int Value;
  const Node *Next;
};
__device__ const Node Last = {30, nullptr};
__device__ Node First = {12, &Last};
__device__ int triple(int X) { return 3 * X; }
__device__ int (*Operation)(int) = triple;

KERNEL addToTotal(int N) { atomicAdd(&Total, N * Scale[0]); }

KERNEL readAll(int *Out) {
  Out[0] = Total;
  Out[1] = *Second;
  Out[2] = First.Next->Value + First.Value;
  Out[3] = Operation(Storage[3]);
  Storage[1] = 99;
}

KERNEL twoFields(char A, double B, int *Out) { *Out = A + (int)B; }

KERNEL refused(int *Out) {
  asm("vabsdiff4.u32.u32.u32.add %0, 0, 1, 2;" : "=r"(*Out));
}

KERNEL fails() { __trap(); }

KERNEL waitsForHost(volatile int *Flag) {
  while (*Flag == 0) {
  }
  *Flag = 2;
}
