// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Heat in a cube: explicit steps of a seven-point stencil, in double and in
// float. A block owns a 32 x 8 tile of a plane and walks through the planes
// with the tile, and a rim around it, in shared memory. Rows are padded by
// cudaMallocPitch; coefficients are in constant memory.
//
//   stencil3d [SIZE [STEPS]]
#include "../common/example.h"

#include <type_traits>
#include <utility>
#include <vector>

constexpr int TileX = 32, TileY = 8;

struct Coefficients {
  double Centre, X, Y, Z;
};
__constant__ Coefficients TheCoefficients;

template <typename T> struct Grid {
  T *Data;
  int N;     // cells in each direction
  int Pitch; // cells from one row to the next

  __host__ __device__ T *row(int Y, int Z) const {
    return Data + (size_t(Z) * N + Y) * Pitch;
  }
};

template <typename T> __global__ void stencil3d(Grid<T> From, Grid<T> To) {
  __shared__ T Tile[TileY + 2][TileX + 2];
  int N = From.N;
  int X = blockIdx.x * TileX + threadIdx.x,
      Y = blockIdx.y * TileY + threadIdx.y;
  int LocalX = threadIdx.x + 1, LocalY = threadIdx.y + 1;
  bool Inside = X < N && Y < N;
  T Centre = T(TheCoefficients.Centre), AlongX = T(TheCoefficients.X),
    AlongY = T(TheCoefficients.Y), AlongZ = T(TheCoefficients.Z);

  T Below = 0, Here = Inside ? From.row(Y, 0)[X] : T(0);
  for (int Z = 0; Z < N; ++Z) {
    T Above = Inside && Z + 1 < N ? From.row(Y, Z + 1)[X] : T(0);
    Tile[LocalY][LocalX] = Here;
    if (threadIdx.x == 0)
      Tile[LocalY][0] = Inside && X > 0 ? From.row(Y, Z)[X - 1] : T(0);
    if (threadIdx.x == TileX - 1)
      Tile[LocalY][TileX + 1] =
          Inside && X + 1 < N ? From.row(Y, Z)[X + 1] : T(0);
    if (threadIdx.y == 0)
      Tile[0][LocalX] = Inside && Y > 0 ? From.row(Y - 1, Z)[X] : T(0);
    if (threadIdx.y == TileY - 1)
      Tile[TileY + 1][LocalX] =
          Inside && Y + 1 < N ? From.row(Y + 1, Z)[X] : T(0);
    __syncthreads();
    // The faces stay cold.
    bool Face =
        X == 0 || Y == 0 || Z == 0 || X == N - 1 || Y == N - 1 || Z == N - 1;
    if (Inside)
      To.row(Y, Z)[X] =
          Face ? T(0)
               : Centre * Here +
                     AlongX *
                         (Tile[LocalY][LocalX - 1] + Tile[LocalY][LocalX + 1]) +
                     AlongY *
                         (Tile[LocalY - 1][LocalX] + Tile[LocalY + 1][LocalX]) +
                     AlongZ * (Below + Above);
    __syncthreads();
    Below = Here;
    Here = Above;
  }
}

constexpr Coefficients HostCoefficients{0.4, 0.1, 0.1, 0.1};

template <typename T> struct Host {
  int N;
  std::vector<T> Cells;

  explicit Host(int N) : N(N), Cells(size_t(N) * N * N) {}
  T &at(int X, int Y, int Z) { return Cells[(size_t(Z) * N + Y) * N + X]; }
  bool isFace(int X, int Y, int Z) const {
    return X == 0 || Y == 0 || Z == 0 || X == N - 1 || Y == N - 1 || Z == N - 1;
  }
  /// A hot block in the middle with some noise.
  void heat() {
    for (int Z = 1; Z < N - 1; ++Z)
      for (int Y = 1; Y < N - 1; ++Y)
        for (int X = 1; X < N - 1; ++X) {
          bool Hot = X > N / 4 && X < N / 2 && Y > N / 4 && Y < 3 * N / 4;
          at(X, Y, Z) =
              T((Hot ? 100 : 10) + example::noise((size_t(Z) * N + Y) * N + X));
        }
  }
  T step(int X, int Y, int Z) {
    if (isFace(X, Y, Z))
      return T(0);
    const Coefficients &C = HostCoefficients;
    return T(C.Centre) * at(X, Y, Z) +
           T(C.X) * (at(X - 1, Y, Z) + at(X + 1, Y, Z)) +
           T(C.Y) * (at(X, Y - 1, Z) + at(X, Y + 1, Z)) +
           T(C.Z) * (at(X, Y, Z - 1) + at(X, Y, Z + 1));
  }
};

template <typename T> Grid<T> allocate(int N) {
  Grid<T> G{nullptr, N, 0};
  size_t PitchBytes = 0;
  CUDA(cudaMallocPitch(&G.Data, &PitchBytes, N * sizeof(T), size_t(N) * N));
  G.Pitch = int(PitchBytes / sizeof(T));
  return G;
}

template <typename T>
void copy(Host<T> &To, const Grid<T> &From, cudaStream_t Stream) {
  size_t Row = From.N * sizeof(T);
  CUDA(cudaMemcpy2DAsync(To.Cells.data(), Row, From.Data,
                         From.Pitch * sizeof(T), Row, size_t(From.N) * From.N,
                         cudaMemcpyDeviceToHost, Stream));
  CUDA(cudaStreamSynchronize(Stream));
}

/// Runs Steps steps; the first is compared with the host at some cells.
template <typename T>
bool simulate(int N, int Steps, double &Milliseconds, double &Checksum) {
  Host<T> Start(N), Result(N);
  Start.heat();
  Grid<T> From = allocate<T>(N), To = allocate<T>(N);
  cudaStream_t Stream;
  CUDA(cudaStreamCreate(&Stream));
  size_t Row = N * sizeof(T);
  CUDA(cudaMemcpy2D(From.Data, From.Pitch * sizeof(T), Start.Cells.data(), Row,
                    Row, size_t(N) * N, cudaMemcpyHostToDevice));
  dim3 Block(TileX, TileY);
  dim3 Blocks(example::ceilDivide(N, TileX), example::ceilDivide(N, TileY));

  example::Timer Time;
  bool Right = true;
  double Tolerance = std::is_same_v<T, float> ? 1e-5 : 1e-13;
  for (int Step = 0; Step < Steps; ++Step) {
    stencil3d<T><<<Blocks, Block, 0, Stream>>>(From, To);
    CUDA(cudaGetLastError());
    std::swap(From, To);
    if (Step > 0)
      continue;
    copy(Result, From, Stream);
    for (int I = 0; I < 2000; ++I) {
      int X = int(example::noise(3 * I) * N),
          Y = int(example::noise(3 * I + 1) * N),
          Z = int(example::noise(3 * I + 2) * N);
      Right &=
          example::near(Result.at(X, Y, Z), Start.step(X, Y, Z), Tolerance);
    }
  }
  copy(Result, From, Stream);
  Milliseconds += Time.milliseconds();
  for (T Cell : Result.Cells)
    Checksum += Cell;
  CUDA(cudaFree(From.Data));
  CUDA(cudaFree(To.Data));
  CUDA(cudaStreamDestroy(Stream));
  return Right;
}

int main(int Count, char **Arguments) {
  int N = example::argument(Count, Arguments, 1, 320, 1200);
  int Steps = example::argument(Count, Arguments, 2, 200);
  std::printf("stencil3d: %d^3 cells, %d steps, double and float\n", N, Steps);
  CUDA(cudaMemcpyToSymbol(TheCoefficients, &HostCoefficients,
                          sizeof(HostCoefficients)));
  double Milliseconds = 0, Double = 0, Float = 0;
  bool Right = simulate<double>(N, Steps, Milliseconds, Double);
  Right &= simulate<float>(N, Steps, Milliseconds, Float);
  // Heat is only lost through the faces, so both must tell the same story.
  Right &= example::near(Float, Double, 1e-3);
  return example::finish(Milliseconds, Right, Double + Float);
}
