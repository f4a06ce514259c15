// The original of a recorded launch reproduces bit for bit; a store whose packs
// were damaged afterwards is noticed, and is no "right".
//
// REQUIRES: plugin
// RUN: clang-r3 %cuda -O2 %s -o %t.exe %cudart
// RUN: r3 --device %device record -- %t.exe
// RUN: r3 --device %device replay -n 2 | FileCheck %s
// CHECK: saxpy {{.*}}bit for bit
//
// RUN: for P in $R3_STORE/packs/*.pack; do printf '!' \
// RUN:   | dd of=$P bs=1 seek=4000 conv=notrunc status=none; done
// RUN: not r3 --device %device replay -n 2 | FileCheck %s --check-prefix=DAMAGED
// DAMAGED: chunks in device memory are not what was recorded

__global__ void saxpy(float *x, float *y, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] += a * x[i];
}

int main() {
  const int N = 20000;
  float *X, *Y, Values[1000];
  for (int I = 0; I < 1000; ++I)
    Values[I] = I;
  cudaMalloc(&X, N * sizeof(float));
  cudaMalloc(&Y, N * sizeof(float));
  for (int I = 0; I < N; I += 1000) {
    cudaMemcpy(X + I, Values, sizeof(Values), cudaMemcpyHostToDevice);
    cudaMemcpy(Y + I, Values, sizeof(Values), cudaMemcpyHostToDevice);
  }
  saxpy<<<(N + 255) / 256, 256>>>(X, Y, 2, N);
  return cudaDeviceSynchronize() != cudaSuccess;
}
