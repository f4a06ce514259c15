// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that tests record by hand, all with saxpy's parameters. Some are
// wrong on purpose.
extern "C" {

__device__ float Scale[4] = {0, 1, 2, 3};

__global__ void saxpy(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}

/// The factor comes from a module global, which recordings hold.
__global__ void scaled(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += Scale[2] * x[i];
}

/// Every other element, none of which is read.
__global__ void strided(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i < n)
    y[2 * i] = 77;
}

/// Reads behind its last element, and does not care.
__global__ void peeks(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i] + (x[i + 1] > 1e30f ? 1 : 0);
}

/// Writes x, too, where the compiler sees what y holds: not while it is traced.
__global__ void furtive(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  float old = y[i];
  y[i] = 3;
  if (__builtin_constant_p(y[i]))
    *static_cast<volatile float *>(x + i) = x[i];
  y[i] = old + a * x[i];
}

/// Through shared memory, with a barrier.
__global__ void staged(float *x, float *y, float a, int n) {
  __shared__ float Tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  Tile[threadIdx.x ^ 1] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    y[i] += a * Tile[threadIdx.x ^ 1];
}

/// Uses a variable that one thread sets; compilers take its value for all.
__global__ void undefined(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int flip;
  if (i == 0)
    flip = 0;
  if (i < n)
    y[i] += a * x[i ^ (flip & 1)];
}

/// Adds nothing, if what earlier launches left are numbers.
__global__ void leftover(float *x, float *y, float a, int n) {
  __shared__ float parts[1024];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float old = parts[threadIdx.x];
  parts[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n)
    y[i] += a * parts[threadIdx.x] + (old == old ? 0 : 1);
}

/// Right where a is 2 or less; else outside, no number, or much slower.
__global__ void outgrows(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[a > 2 ? i + n : i] += a * x[i];
}
__global__ void unreal(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i] + 0 / (a > 2 ? 0.0f : 1.0f);
}
__global__ void dawdles(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int Turns = 0;
  while (a > 2 && i == 0 && Turns < 2000000)
    Turns = Turns + 1;
  if (i < n)
    y[i] += a * x[i];
}

/// x holds whole numbers, too, and a label in each element.
__global__ void labelled(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += int(x[i]) < 0 ? 0 : a * x[i];
}

/// x begins with y's address.
__global__ void linked(float *x, float *, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    (*reinterpret_cast<float **>(x))[i] += a;
}

__global__ void hang(float *x, float *y, float a, int n) {
  while (*static_cast<volatile float *>(x) >= 0)
    ;
  y[0] = a;
}

__global__ void trap(float *x, float *y, float a, int n) {
  if (x[0] >= 0)
    __trap();
  y[0] = a;
}

__global__ void wild(float *x, float *y, float a, int n) {
  *reinterpret_cast<volatile float *>(16 + static_cast<long>(a)) = y[0];
}

__global__ void outside(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    y[i] += i < n ? a * x[i] : 1;
}
}
