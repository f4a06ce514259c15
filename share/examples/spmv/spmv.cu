// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Power iteration with a sparse matrix in compressed rows. The matrix is a
// struct with pointers, and lies in device memory itself: a kernel gets one
// pointer and finds the rest through it. A warp works on a row. The norm of
// each step is kept in managed memory, where the host reads it.
//
//   spmv [ROWS [STEPS]]
#include "../common/example.h"

#include <vector>

struct Matrix {
  int Rows;
  const int *RowStart; // Rows + 1
  const int *Columns;
  const double *Values;
};

constexpr int Threads = 256, WarpSize = 32;

__device__ inline double sumOfWarp(double Value) {
  for (int Offset = WarpSize / 2; Offset > 0; Offset /= 2)
    Value += __shfl_down_sync(0xffffffffu, Value, Offset);
  return Value;
}

__global__ void multiply(const Matrix *A, const double *X, double *Y) {
  int Row = (blockIdx.x * blockDim.x + threadIdx.x) / WarpSize;
  int Lane = threadIdx.x % WarpSize;
  if (Row >= A->Rows)
    return;
  double Sum = 0;
  for (int I = A->RowStart[Row] + Lane; I < A->RowStart[Row + 1]; I += WarpSize)
    Sum += A->Values[I] * X[A->Columns[I]];
  Sum = sumOfWarp(Sum);
  if (Lane == 0)
    Y[Row] = Sum;
}

/// Sums of squares of blocks; always in the same order.
__global__ void squares(const double *X, int Size, double *OfBlocks) {
  __shared__ double OfWarps[Threads / WarpSize];
  double Sum = 0;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Size;
       I += gridDim.x * blockDim.x)
    Sum += X[I] * X[I];
  Sum = sumOfWarp(Sum);
  if (threadIdx.x % WarpSize == 0)
    OfWarps[threadIdx.x / WarpSize] = Sum;
  __syncthreads();
  if (threadIdx.x != 0)
    return;
  Sum = 0;
  for (double OfWarp : OfWarps)
    Sum += OfWarp;
  OfBlocks[blockIdx.x] = Sum;
}

__global__ void normalise(const double *Y, double *X, int Size,
                          const double *OfBlocks, int Blocks, double *Norm) {
  double Sum = 0;
  for (int I = 0; I < Blocks; ++I)
    Sum += OfBlocks[I];
  double Length = sqrt(Sum);
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I < Size)
    X[I] = Y[I] / Length;
  if (I == 0)
    *Norm = Length;
}

namespace {

struct HostMatrix {
  std::vector<int> RowStart{0}, Columns;
  std::vector<double> Values;
};

/// A band with random gaps, and a long row here and there.
HostMatrix build(int Rows) {
  HostMatrix M;
  for (int Row = 0; Row < Rows; ++Row) {
    int Want = 8 + int(example::noise(Row) * 40);
    if (Row % 1000 == 7)
      Want = 400;
    for (int I = 0; I < Want; ++I) {
      uint64_t Key = uint64_t(Row) * 1000 + I;
      int Column = Row + int((example::noise(Key) - 0.5) * 2000);
      M.Columns.push_back((Column % Rows + Rows) % Rows);
      M.Values.push_back(0.1 + example::noise(Key + 17) / Want);
    }
    M.RowStart.push_back(int(M.Columns.size()));
  }
  return M;
}

template <typename T> T *upload(const std::vector<T> &Values) {
  T *Where = nullptr;
  CUDA(cudaMalloc(&Where, Values.size() * sizeof(T)));
  CUDA(cudaMemcpy(Where, Values.data(), Values.size() * sizeof(T),
                  cudaMemcpyHostToDevice));
  return Where;
}

bool checkProduct(const HostMatrix &M, const std::vector<double> &X,
                  const std::vector<double> &Y) {
  bool Right = true;
  for (int I = 0; I < 500; ++I) {
    int Row = int(example::noise(5000 + I) * X.size());
    double Sum = 0;
    for (int J = M.RowStart[Row]; J < M.RowStart[Row + 1]; ++J)
      Sum += M.Values[J] * X[M.Columns[J]];
    Right &= example::near(Y[Row], Sum, 1e-12);
  }
  return Right;
}

} // namespace

int main(int Count, char **Arguments) {
  int Rows = example::argument(Count, Arguments, 1, 500000);
  int Steps = example::argument(Count, Arguments, 2, 200);
  HostMatrix M = build(Rows);
  std::printf("spmv: %d rows, %zu entries, %d steps\n", Rows, M.Columns.size(),
              Steps);
  int *RowStart = upload(M.RowStart), *Columns = upload(M.Columns);
  double *Values = upload(M.Values);
  Matrix *A = upload(std::vector<Matrix>{{Rows, RowStart, Columns, Values}});
  std::vector<double> Host(Rows, 1.0), Product(Rows);
  double *X = upload(Host), *Y = upload(Product), *OfBlocks, *Norm;
  constexpr int SumBlocks = 64;
  CUDA(cudaMalloc(&OfBlocks, SumBlocks * sizeof(double)));
  CUDA(cudaMallocManaged(&Norm, sizeof(double)));

  example::Timer Time;
  bool Right = true;
  double Norms = 0;
  int RowBlocks = example::ceilDivide(Rows, Threads / WarpSize);
  for (int Step = 0; Step < Steps; ++Step) {
    multiply<<<RowBlocks, Threads>>>(A, X, Y);
    squares<<<SumBlocks, Threads>>>(Y, Rows, OfBlocks);
    normalise<<<example::ceilDivide(Rows, Threads), Threads>>>(
        Y, X, Rows, OfBlocks, SumBlocks, Norm);
    CUDA(cudaGetLastError());
    if (Step == 0) {
      CUDA(cudaMemcpy(Product.data(), Y, Rows * sizeof(double),
                      cudaMemcpyDeviceToHost));
      Right &= checkProduct(M, Host, Product);
    }
    if (Step % 20 == 0) {
      CUDA(cudaDeviceSynchronize());
      Norms += *Norm;
    }
  }
  CUDA(cudaDeviceSynchronize());
  double Milliseconds = Time.milliseconds();
  CUDA(cudaMemcpy(Host.data(), X, Rows * sizeof(double),
                  cudaMemcpyDeviceToHost));
  double Square = 0;
  for (double Value : Host)
    Square += Value * Value;
  Right &= example::near(Square, 1, 1e-9);
  double Checksum = Norms + *Norm;
  for (void *Where :
       {(void *)RowStart, (void *)Columns, (void *)Values, (void *)A, (void *)X,
        (void *)Y, (void *)OfBlocks, (void *)Norm})
    CUDA(cudaFree(Where));
  return example::finish(Milliseconds, Right, Checksum);
}
