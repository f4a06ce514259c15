// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instrumented builds are tested with.
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)

/// Out[i] = Expression of a[i], b[i] and c[i].
#define OPERATION(Name, Real, Out, Expression)                                 \
  extern "C" __global__ void Name(const Real *A, const Real *B, const Real *C, \
                                  Out *To, int N) {                            \
    const int I = INDEX;                                                       \
    if (I >= N)                                                                \
      return;                                                                  \
    const Real a = A[I], b = B[I], c = C[I];                                   \
    To[I] = Expression;                                                        \
  }
#define ARITHMETIC(Suffix, Real, Fma, Sqrt, Kind)                              \
  OPERATION(add_##Suffix, Real, Real, a + b)                                   \
  OPERATION(sub_##Suffix, Real, Real, a - b)                                   \
  OPERATION(mul_##Suffix, Real, Real, a *b)                                    \
  OPERATION(div_##Suffix, Real, Real, a / b)                                   \
  OPERATION(fma_##Suffix, Real, Real, Fma(a, b, c))                            \
  OPERATION(sqrt_##Suffix, Real, Real, Sqrt(a))                                \
  OPERATION(named_##Suffix, Real, Real, __##Kind##add_rn(a, b))                \
  OPERATION(rcp_##Suffix, Real, Real, __##Kind##rcp_rn(b))
ARITHMETIC(f, float, fmaf, sqrtf, f)
ARITHMETIC(d, double, fma, sqrt, d)
OPERATION(narrow, double, float, static_cast<float>(a))
OPERATION(directed, float, float, __fadd_rd(a, b))

#define CONVERSION(Name, From, To)                                             \
  extern "C" __global__ void Name(const From *A, To *Out, int N) {             \
    if (INDEX < N)                                                             \
      Out[INDEX] = static_cast<To>(A[INDEX]);                                  \
  }
CONVERSION(i32_f, int, float)
CONVERSION(u32_f, unsigned, float)
CONVERSION(i64_f, long long, float)
CONVERSION(u64_f, unsigned long long, float)
CONVERSION(i64_d, long long, double)
CONVERSION(u64_d, unsigned long long, double)

OPERATION(sine_f, float, float, sinf(a))
OPERATION(sine_d, double, double, sin(a))
OPERATION(floor_f, float, float, floorf(a))
OPERATION(power_d, double, double, pow(a, b))
extern "C" __global__ void both(const float *A, float *Sine, float *Cosine) {
  sincosf(A[INDEX], &Sine[INDEX], &Cosine[INDEX]);
}

typedef float Pair __attribute__((ext_vector_type(2)));
extern "C" __global__ void pairs(const Pair *A, const Pair *B, Pair *Out) {
  Out[INDEX] = A[INDEX] * B[INDEX];
}

// --- Evaluation in double.

__device__ float product(float A, float B) { return A * B; }

extern "C" __global__ void dot(const float *A, const float *B, float *Out,
                               int N) {
  float Sum = 0;
  for (int I = 0; I < N; ++I)
    Sum += product(A[I], B[I]);
  Out[INDEX] = Sum;
}

/// Cancels what only more digits keep, calls libdevice, branches.
extern "C" __global__ void mixed(const float *A, float *Out, int N) {
  if (INDEX >= N)
    return;
  const float X = A[INDEX];
  float Y = (1 + X * 1e-6f) - 1;
  if (Y > 0)
    Y = expf(Y) - 1;
  Out[INDEX] = fmaxf(Y, -1.0f);
}

/// Sums in a local array that no optimisation takes apart.
extern "C" __global__ void binned(const float *A, float *Out, int N) {
  float Bins[4] = {0, 0, 0, 0};
  for (int I = 0; I < N; ++I)
    Bins[I & 3] += A[I] * A[I];
  for (int I = 0; I < 4; ++I)
    Out[I] = Bins[I];
}

/// Bits, shared memory and shuffles see floats.
extern "C" __global__ void bits(const float *A, unsigned *Out) {
  __shared__ float Tile[32];
  const float X = A[INDEX] * 1.1f;
  Tile[threadIdx.x] = X;
  __syncthreads();
  Out[INDEX] = __float_as_uint(X) ^ __float_as_uint(Tile[threadIdx.x]) ^
               __float_as_uint(__shfl_sync(~0u, X, threadIdx.x));
}

// --- Undefined values.

struct Padded {
  char Letter;
  float Number;
};

extern "C" __global__ void defined(const float *A, float *Out, int N) {
  __shared__ float Tile[64];
  float Local[4];
  Padded P;
  for (int I = 0; I < 4; ++I)
    Local[I] = A[I] + I;
  P.Letter = 1;
  P.Number = Local[INDEX & 3];
  Tile[threadIdx.x] = P.Number;
  __syncthreads();
  Out[INDEX] = Tile[threadIdx.x ^ 1] + P.Letter;
}

extern "C" __global__ void variable(const float *A, float *Out, int N) {
  float X;
  if (A[INDEX] > 5)
    X = 1;
  Out[INDEX] = X;
}

extern "C" __global__ void element(const float *A, float *Out, int N) {
  float Local[8];
  for (int I = 0; I < N; ++I)
    Local[I] = A[I];
  Out[INDEX] = Local[7];
}

/// Defined in the first turn of a loop alone.
extern "C" __global__ void turn(const float *A, float *Out, int N) {
  for (int I = 0; I < 2; ++I) {
    float X[2];
    if (I == 0)
      X[N & 1] = 3;
    Out[INDEX] = X[N & 1];
  }
}

extern "C" __global__ void flag(const float *A, float *Out, int N) {
  bool B[2];
  B[0] = A[INDEX] > 5;
  Out[INDEX] = B[N & 1] ? 1 : 2;
}

extern "C" __global__ void tile(const float *A, float *Out, int N) {
  __shared__ float Tile[64];
  if (threadIdx.x)
    Tile[threadIdx.x] = A[threadIdx.x];
  __syncthreads();
  Out[INDEX] = Tile[threadIdx.x ^ 1];
}

extern "C" __global__ void dynamic(const float *A, float *Out, int N) {
  extern __shared__ float Memory[];
  if (threadIdx.x)
    Memory[threadIdx.x] = A[threadIdx.x];
  __syncthreads();
  Out[INDEX] = Memory[threadIdx.x ^ 1];
}

/// How often each block and each thread says that it is the one, and the lane
/// that the hardware gives it.
extern "C" __global__ void places(int *Blocks, int *Threads, int *Lanes) {
  const int Thread =
      threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const int Block =
      blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  if (Thread == 0)
    atomicAdd(&Blocks[Block], 1);
  if (Block == 0) {
    atomicAdd(&Threads[Thread], 1);
    asm("mov.u32 %0, %%laneid;" : "=r"(Lanes[Thread]));
  }
}

/// Which block writes last.
extern "C" __global__ void last(int *Out) { *Out = blockIdx.x; }

extern "C" __global__ void indexless(int *Out) { *Out = 1; }
extern "C" __global__ void assembled(int *Out) {
  int Thread;
  asm("mov.u32 %0, %%tid.x;" : "=r"(Thread));
  Out[Thread] = blockIdx.x;
}

// --- Counting.

extern "C" __global__ void saxpy(float A, const float *X, float *Y, int N) {
  if (INDEX < N)
    Y[INDEX] = A * X[INDEX] + Y[INDEX];
}

extern "C" __global__ void power_sums(const double *X, double *Y, int Turns) {
  double Sum = 0, Power = 1;
  for (int I = 0; I < Turns; ++I) {
    Power *= X[INDEX];
    Sum += Power;
  }
  Y[INDEX] = Sum;
}

/// Threads below Few make three float operations, the others one double one.
extern "C" __global__ void branches(const float *X, float *Y, double *Z,
                                    int Few) {
  if (INDEX < Few)
    Y[INDEX] = (X[INDEX] + 1) * X[INDEX] - 3;
  else
    Z[INDEX] = Z[INDEX] / 3;
}

__device__ __attribute__((noinline)) float square(float X) { return X * X; }
extern "C" __global__ void called(const float *X, float *Y) {
  Y[INDEX] = square(X[INDEX]) + square(X[INDEX] + 1);
}

typedef _Float16 HalfPair __attribute__((ext_vector_type(2)));
extern "C" __global__ void halves(_Float16 *X, HalfPair *Y) {
  X[INDEX] = X[INDEX] + X[INDEX + 1];
  Y[INDEX] = Y[INDEX] * Y[INDEX];
}

extern "C" __global__ void in_assembly(float *X, unsigned *Y) {
  asm("{ .reg .pred p; setp.ne.f32 p, %0, %0; fma.rn.f32 %0, %0, %0, %0; "
      "@p add.f32 %0, %0, %0; }"
      : "+f"(X[INDEX]));
  asm("add.rn.f16x2 %0, %0, %0;\n\tcvt.f32.f16 %0, %0;" : "+r"(Y[INDEX]));
}

/// What has units of its own, or none.
extern "C" __global__ void uncounted(float *X, int *Y) {
  X[INDEX] = fminf(sqrtf(fabsf(-X[INDEX])), 3.0f);
  Y[INDEX] = Y[INDEX] * 3 + int(X[INDEX]);
}

extern "C" __global__ void unused(float *X) {
  float Sum = 0;
  for (int I = 0; I < 100; ++I)
    Sum += X[I];
  X[INDEX] = 1;
}

extern "C" __global__ void tensor(unsigned *X, float *Y) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
               "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
               : "+f"(Y[0]), "+f"(Y[1]), "+f"(Y[2]), "+f"(Y[3])
               : "r"(X[0]), "r"(X[1]), "r"(X[2]));
}
