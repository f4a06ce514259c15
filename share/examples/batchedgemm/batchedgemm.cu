// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many small matrix products, as a spectral element code makes them: the same
// operator D, in constant memory, is applied from both sides to every element,
// E <- alpha D E D' + beta E. The order is a template parameter; a block works
// on several elements.
//
//   batchedgemm [ELEMENTS [STEPS]]
#include "../common/example.h"

#include <vector>

constexpr int LargestOrder = 16;

struct Operator {
  double D[LargestOrder * LargestOrder];
  double Alpha, Beta;
};
__constant__ Operator TheOperator;

template <int Order> constexpr int PerBlock = Order <= 8 ? 4 : 1;

template <int Order, typename T>
__global__ void __launch_bounds__(Order * Order * PerBlock<Order>)
    apply(const T *In, T *Out, int Elements) {
  constexpr int Size = Order * Order;
  __shared__ T Tiles[PerBlock<Order>][2][Size];
  int Column = threadIdx.x, Row = threadIdx.y, Slot = threadIdx.z;
  int Element = blockIdx.x * PerBlock<Order> + Slot, I = Row * Order + Column;
  bool Valid = Element < Elements;
  T *E = Tiles[Slot][0], *DE = Tiles[Slot][1];
  T Own = Valid ? In[size_t(Element) * Size + I] : T(0);
  E[I] = Own;
  __syncthreads();
  T Sum = 0;
#pragma unroll
  for (int K = 0; K < Order; ++K)
    Sum += T(TheOperator.D[Row * Order + K]) * E[K * Order + Column];
  DE[I] = Sum;
  __syncthreads();
  Sum = 0;
#pragma unroll
  for (int K = 0; K < Order; ++K)
    Sum += DE[Row * Order + K] * T(TheOperator.D[Column * Order + K]);
  if (Valid)
    Out[size_t(Element) * Size + I] =
        T(TheOperator.Alpha) * Sum + T(TheOperator.Beta) * Own;
}

namespace {

/// Rows that sum to one and are largest at the diagonal: nothing grows.
Operator buildOperator(int Order) {
  Operator O = {};
  for (int Row = 0; Row < Order; ++Row) {
    double Sum = 0;
    for (int Column = 0; Column < Order; ++Column)
      Sum += O.D[Row * Order + Column] =
          1.0 / (1 + (Row - Column) * (Row - Column));
    for (int Column = 0; Column < Order; ++Column)
      O.D[Row * Order + Column] /= Sum;
  }
  O.Alpha = 0.7;
  O.Beta = 0.3;
  return O;
}

template <int Order, typename T>
bool checkElement(const Operator &O, const T *Before, const T *After,
                  double Tolerance) {
  bool Right = true;
  for (int Row = 0; Row < Order; ++Row)
    for (int Column = 0; Column < Order; ++Column) {
      double Sum = 0;
      for (int K = 0; K < Order; ++K)
        for (int L = 0; L < Order; ++L)
          Sum += O.D[Row * Order + K] * Before[K * Order + L] *
                 O.D[Column * Order + L];
      double Want = O.Alpha * Sum + O.Beta * Before[Row * Order + Column];
      Right &= example::near(After[Row * Order + Column], Want, Tolerance);
    }
  return Right;
}

template <int Order, typename T>
bool run(int Elements, int Steps, double Tolerance, double &Milliseconds,
         double &Checksum) {
  constexpr int Size = Order * Order;
  Operator O = buildOperator(Order);
  size_t Words = size_t(Elements) * Size, Bytes = Words * sizeof(T);
  std::vector<T> Start(Words), Result(Words);
  for (size_t I = 0; I < Words; ++I)
    Start[I] = T(example::noise(I + Order));
  T *In, *Out;
  cudaStream_t Stream;
  CUDA(cudaStreamCreate(&Stream));
  CUDA(cudaMalloc(&In, Bytes));
  CUDA(cudaMalloc(&Out, Bytes));
  CUDA(cudaMemcpyToSymbolAsync(TheOperator, &O, sizeof(O), 0,
                               cudaMemcpyHostToDevice, Stream));
  CUDA(
      cudaMemcpyAsync(In, Start.data(), Bytes, cudaMemcpyHostToDevice, Stream));
  dim3 Block(Order, Order, PerBlock<Order>);
  int Blocks = example::ceilDivide(Elements, PerBlock<Order>);
  example::Timer Time;
  bool Right = true;
  for (int Step = 0; Step < Steps; ++Step) {
    apply<Order, T><<<Blocks, Block, 0, Stream>>>(In, Out, Elements);
    CUDA(cudaGetLastError());
    std::swap(In, Out);
    if (Step > 0)
      continue;
    CUDA(cudaMemcpyAsync(Result.data(), In, Bytes, cudaMemcpyDeviceToHost,
                         Stream));
    CUDA(cudaStreamSynchronize(Stream));
    for (int I = 0; I < 50; ++I) {
      size_t At = size_t(example::noise(I) * Elements) * Size;
      Right &= checkElement<Order>(O, &Start[At], &Result[At], Tolerance);
    }
  }
  CUDA(cudaMemcpyAsync(Result.data(), In, Bytes, cudaMemcpyDeviceToHost,
                       Stream));
  CUDA(cudaStreamSynchronize(Stream));
  Milliseconds += Time.milliseconds();
  for (T Value : Result)
    Checksum += Value;
  CUDA(cudaFree(In));
  CUDA(cudaFree(Out));
  CUDA(cudaStreamDestroy(Stream));
  return Right;
}

} // namespace

int main(int Count, char **Arguments) {
  int Elements = example::argument(Count, Arguments, 1, 200000);
  int Steps = example::argument(Count, Arguments, 2, 100);
  std::printf("batchedgemm: %d elements, %d steps, orders 5, 8, 16\n", Elements,
              Steps);
  double Milliseconds = 0, Checksum = 0;
  bool Right = run<5, double>(Elements, Steps, 1e-12, Milliseconds, Checksum);
  Right &= run<8, float>(Elements, Steps, 1e-5, Milliseconds, Checksum);
  Right &=
      run<16, double>(Elements / 4 + 1, Steps, 1e-12, Milliseconds, Checksum);
  return example::finish(Milliseconds, Right, Checksum);
}
