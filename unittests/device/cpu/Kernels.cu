// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of the CPU device's tests, one a feature. Compiled to unoptimised
// device bitcode when the tests are built, as the plugin embeds it.
#include <cassert>
#include <cstdint>
#include <cstdio>

#define KERNEL extern "C" __global__ void

__device__ inline unsigned globalThread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// --- Geometry and parameters.

KERNEL geometry(unsigned *Out) {
  unsigned Block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  unsigned Thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  unsigned At = Block * blockDim.x * blockDim.y * blockDim.z + Thread;
  Out[At] = threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 |
            blockIdx.x << 12 | blockIdx.y << 16 | blockIdx.z << 20 |
            gridDim.z << 24;
}

struct Mixed {
  char C;
  double D;
  short S[3];
};
struct Empty {};
KERNEL parameters(char C, Mixed M, short S, Empty, double *Out, bool B, float F,
                  long long L) {
  M.D += 1; // a thread's own copy
  Out[threadIdx.x] = C + M.C + M.D + M.S[2] + S + B + F + L;
}

// --- Shared memory and barriers.

KERNEL reverse(const int *In, int *Out) {
  __shared__ int Tile[256];
  extern __shared__ int Dynamic[];
  unsigned I = threadIdx.x, Base = blockIdx.x * blockDim.x;
  Tile[I] = In[Base + I];
  __syncthreads();
  Dynamic[I] = Tile[blockDim.x - 1 - I];
  __syncthreads();
  Out[Base + I] = Dynamic[I] * 2 + Dynamic[(I + 1) % blockDim.x];
}

/// A word of shared memory and of a variable that nobody has written; nor do
/// they hold afterwards what they held before. In the kernel's own frame: where
/// another function's frame was before, lies what that has left.
__device__ __forceinline__ void takeLeftovers(unsigned *Shared, unsigned *Local,
                                              unsigned Bytes) {
  extern __shared__ unsigned Words[];
  unsigned Own[64];
  unsigned I = globalThread(), Last = Bytes / 4 - 1 - threadIdx.x;
  Own[(I + Bytes) % 64] = I; // so that it is there
  Shared[I] = Words[Last];
  Local[I] = Own[(I + Bytes + 1) % 64];
  Words[Last] = I;
}
KERNEL leftoversOfLoops(unsigned *Shared, unsigned *Local, unsigned Bytes) {
  takeLeftovers(Shared, Local, Bytes);
}
KERNEL leftoversOfFibers(unsigned *Shared, unsigned *Local, unsigned Bytes) {
  __syncthreads();
  takeLeftovers(Shared, Local, Bytes);
}

KERNEL barrierVotes(const int *In, int *Out) {
  int V = In[threadIdx.x];
  int Count = __syncthreads_count(V > 10);
  int All = __syncthreads_and(V > 0);
  int Any = __syncthreads_or(V == 12345);
  Out[threadIdx.x] = Count * 100 + (All != 0) * 10 + (Any != 0);
}

// Warps 0 and 1 produce, warps 2 and 3 consume, at a named barrier.
KERNEL namedBarriers(int *Out) {
  __shared__ int Data[64];
  if (threadIdx.x < 64) {
    Data[threadIdx.x] = threadIdx.x * 3;
    __nvvm_bar_warp_sync(~0u);
    __nvvm_barrier_sync_cnt(3, 128);
  } else {
    __nvvm_barrier_sync_cnt(3, 128);
    Out[threadIdx.x - 64] = Data[127 - threadIdx.x];
  }
  // Two halves each at a barrier of its own.
  __shared__ int Half[2];
  unsigned Mine = threadIdx.x / 64;
  if (threadIdx.x % 64 == 0)
    Half[Mine] = 7 + Mine;
  __nvvm_barrier_sync_cnt(4 + Mine, 64);
  Out[64 + threadIdx.x] = Half[Mine];
}

KERNEL earlyExit(int *Out, int Limit) {
  if (threadIdx.x >= Limit)
    return;
  __shared__ int Sum;
  if (threadIdx.x == 0)
    Sum = 0;
  __syncthreads();
  atomicAdd(&Sum, 1);
  __syncthreads();
  Out[threadIdx.x] = Sum;
}

// --- Warp operations.

KERNEL shuffles(int *Out, double *Doubles) {
  int L = threadIdx.x % 32;
  int *O = Out + threadIdx.x * 8;
  O[0] = __shfl_sync(~0u, L * 10, 5);
  O[1] = __shfl_up_sync(~0u, L, 3);
  O[2] = __shfl_down_sync(~0u, L, 3);
  O[3] = __shfl_xor_sync(~0u, L, 7);
  O[4] = __shfl_sync(~0u, L, 1, 8);
  O[5] = __shfl_up_sync(~0u, L, 1, 4);
  O[6] = __shfl_down_sync(~0u, L, 1, 4);
  if (L < 8)
    O[7] = __shfl_xor_sync(0xffu, L, 1);
  Doubles[threadIdx.x] = __shfl_down_sync(~0u, L + 0.5, 16);
}

KERNEL votes(unsigned *Out) {
  unsigned L = threadIdx.x;
  unsigned *O = Out + L * 12;
  O[0] = __ballot_sync(~0u, L & 1);
  O[1] = __all_sync(~0u, L < 32);
  O[2] = __any_sync(~0u, L == 40);
  O[3] = __uni_sync(~0u, L > 5);
  O[4] = __match_any_sync(~0u, L / 4);
  int Predicate = 5;
  O[5] = __match_all_sync(~0u, 17, &Predicate);
  O[6] = Predicate;
  O[7] = __reduce_add_sync(~0u, L);
  O[8] = __reduce_max_sync(~0u, (int)L - 40);
  O[9] = __reduce_xor_sync(~0u, L * L);
  O[10] = L % 3 == 0 ? __activemask() : 0;
  __syncwarp();
  O[11] = __match_any_sync(~0u, (unsigned long long)(L % 2) << 40);
}

KERNEL warpSum(const float *In, float *Out, int N) {
  float Sum = 0;
  for (unsigned I = globalThread(); I < N; I += gridDim.x * blockDim.x)
    Sum += In[I];
  for (int Offset = 16; Offset; Offset /= 2)
    Sum += __shfl_down_sync(~0u, Sum, Offset);
  if (threadIdx.x % 32 == 0)
    atomicAdd(Out, Sum);
}

// --- Atomics.

KERNEL atomics(int *I, unsigned *U, unsigned long long *L, float *F, double *D,
               unsigned short *H) {
  atomicAdd(I + 0, 2);
  atomicSub(I + 1, 1);
  atomicMax(I + 2, (int)globalThread() - 5);
  atomicMin(I + 3, -(int)globalThread());
  atomicOr(U + 0, 1u << threadIdx.x % 32);
  atomicAnd(U + 1, ~(1u << threadIdx.x % 16));
  atomicXor(U + 2, globalThread());
  atomicInc(U + 3, 9);
  atomicDec(U + 4, 9);
  atomicAdd(L, 1ull << 33);
  atomicMax(L + 1, (unsigned long long)globalThread() << 40);
  atomicAdd(F, 0.5f);
  atomicAdd(D, 0.25);
  atomicAdd_block(I + 4, 1);
  atomicAdd_system(I + 5, 1);
  atomicAdd_block(F + 1, 1.f);
  atomicExch(I + 6, 42);
  unsigned short Old, Seen = *(volatile unsigned short *)H;
  do {
    Old = Seen;
    Seen = atomicCAS(H, Old, (unsigned short)(Old + 1));
  } while (Seen != Old);
  unsigned long long Expected, Now = *(volatile unsigned long long *)(D + 1);
  do { // the usual emulation of a double operation
    Expected = Now;
    Now = atomicCAS((unsigned long long *)(D + 1), Expected,
                    __double_as_longlong(__longlong_as_double(Expected) + 1));
  } while (Now != Expected);
}

// --- Waiting for each other.

// A lock that every thread of every block takes.
KERNEL spinLock(int *Lock, int *Count) {
  for (bool Done = false; !Done;) {
    if (atomicCAS(Lock, 0, 1) == 0) {
      *(volatile int *)Count = *(volatile int *)Count + 1;
      __threadfence();
      atomicExch(Lock, 0);
      Done = true;
    }
  }
}

// Each thread waits for the one behind it.
KERNEL chain(volatile int *Flags) {
  unsigned T = threadIdx.x;
  if (T + 1 < blockDim.x)
    while (Flags[T + 1] == 0) {
    }
  Flags[T] = 1;
}

// A barrier of all blocks of a cooperative launch, written by hand.
KERNEL gridBarrier(unsigned *Arrived, int *Data, int *Out) {
  Data[blockIdx.x] = blockIdx.x + 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(Arrived, 1);
    while (*(volatile unsigned *)Arrived < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  int Sum = 0;
  for (int I = 0; I < gridDim.x; ++I)
    Sum += ((volatile int *)Data)[I];
  Out[blockIdx.x] = Sum;
}

// --- Globals.

__device__ int Counter = 5;
__constant__ float Table[4] = {1, 2, 3, 4};
__device__ int Buffer[8];
__device__ int *Pointer = Buffer + 2;
static __device__ int Hidden = 100;
static __device__ const int Primes[5] = {2, 3, 5, 7, 11};

KERNEL globals(float *Out) {
  atomicAdd(&Counter, 1);
  Hidden += 1;
  *Pointer = 77;
  Out[0] = Table[Out[0] > 0 ? 2 : 1] + Hidden;
  Out[1] = Primes[(int)Out[1]];
}

__device__ float twice(float X) { return 2 * X; }
__device__ float square(float X) { return X * X; }
__device__ float (*Operations[2])(float) = {twice, square};
KERNEL functionPointers(float *Out) {
  Out[threadIdx.x] = Operations[threadIdx.x % 2](threadIdx.x);
}

struct Shape {
  __device__ virtual float area() const = 0;
};
struct Box : Shape {
  float A;
  __device__ explicit Box(float A) : A(A) {}
  __device__ float area() const override { return A * A; }
};
struct Disc : Shape {
  float R;
  __device__ explicit Disc(float R) : R(R) {}
  __device__ float area() const override { return 3 * R * R; }
};
KERNEL virtualCalls(float *Out) {
  Box B(2 + threadIdx.x);
  Disc D(threadIdx.x);
  Shape *S = threadIdx.x % 2 ? (Shape *)&B : (Shape *)&D;
  Out[threadIdx.x] = S->area();
}

__device__ unsigned fibonacci(unsigned N) {
  return N < 2 ? N : fibonacci(N - 1) + fibonacci(N - 2);
}
KERNEL recursion(unsigned *Out) { Out[threadIdx.x] = fibonacci(threadIdx.x); }

KERNEL localArray(const int *In, int *Out, int N) {
  int Own[64];
  for (int I = 0; I < 64; ++I)
    Own[(I * 7 + threadIdx.x) % 64] = In[I];
  Out[threadIdx.x] = Own[N] + Own[(N + threadIdx.x) % 64];
}

// --- Reports and faults.

KERNEL prints(int N) {
  printf("%d %5.2f %s %c %lld %u %x %%|%-4d|%p\n", N, N + 0.5, "text", 'c',
         (long long)N << 40, ~0u, 255u, N, (void *)0x10);
}
KERNEL asserts(int N) { assert(N + threadIdx.x < 7); }
KERNEL traps(int *Out) {
  if (threadIdx.x == 3)
    __trap();
  Out[threadIdx.x] = 1;
}
KERNEL trapsInBarrier(int *Out) {
  __syncthreads();
  if (threadIdx.x == 3)
    __trap();
  __syncthreads();
  Out[threadIdx.x] = 1;
}
KERNEL deadlock(int *Out) {
  if (threadIdx.x < 7)
    __nvvm_barrier_sync_cnt(1, 64);
  else
    __syncwarp(1u << 3 | 1u << threadIdx.x);
  Out[threadIdx.x] = 1;
}
KERNEL outOfBounds(int *Out, int N) {
  Out[threadIdx.x] = threadIdx.x;
  if (threadIdx.x == 9)
    Out[N] = 5; // the line that the report names
  if (threadIdx.x >= 9)
    Out[threadIdx.x] += Out[threadIdx.x + N * 1000];
}
KERNEL withinBounds(int *Out, const Mixed M, int N) {
  __shared__ int Tile[32];
  extern __shared__ int Dynamic[];
  int Own[4] = {1, 2, 3, 4};
  Tile[threadIdx.x] = Own[threadIdx.x % 4] + Primes[N];
  Dynamic[threadIdx.x] = Table[N] + M.S[N % 3];
  __syncthreads();
  atomicAdd(Out + 31 - threadIdx.x, Tile[threadIdx.x] + Dynamic[0]);
}

KERNEL assembly(unsigned *Out) {
  unsigned V;
  asm volatile("mov.u32 %0, %%smid;\n\tvabsdiff4.u32.u32.u32 %0, %0, 1, 2;"
               : "=r"(V));
  Out[0] = V;
}
KERNEL smallAssembly(unsigned *Out) {
  unsigned Lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(Lane));
  Out[threadIdx.x] = Lane + __dp4a(0x01020304, 0x01010101, 5) +
                     __funnelshift_l(0x80000000u, 1, 4);
}
__device__ void elsewhere(int *);
KERNEL callsElsewhere(int *Out) { elsewhere(Out); }
KERNEL unknownIntrinsic(int *Out) {
  __nvvm_barrier_cluster_arrive();
  Out[0] = 1;
}

// --- Copies by the thread.

KERNEL copies(const char *In, char *Out) {
  char Local[40];
  memcpy(Local, In + threadIdx.x, 40);
  memset(Out + 64 * threadIdx.x, 7, 64);
  memcpy(Out + 64 * threadIdx.x, Local, 33);
  void *Heap = malloc(16);
  memcpy(Heap, Local, 16);
  Out[64 * threadIdx.x + 50] = ((char *)Heap)[3];
  free(Heap);
}

// --- Launch bounds.

extern "C" __global__ void __launch_bounds__(64) bounded(int *Out) {
  Out[threadIdx.x] = 1;
}

KERNEL tooMuchShared(int *Out) {
  extern __shared__ int Dynamic[];
  Dynamic[threadIdx.x] = 1;
  Out[threadIdx.x] = Dynamic[threadIdx.x];
}
