// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies that attract each other, all pairs: each block loads the bodies tile
// by tile into shared memory. Leapfrog steps; positions are double buffered and
// copied out through pinned memory in a second stream now and then.
//
//   nbody [BODIES [STEPS]]
#include "../common/example.h"

#include <vector>

constexpr int Threads = 128;
constexpr float Softening = 1e-3f;

__device__ inline float3 attraction(float4 On, float4 By, float3 Sum) {
  float X = By.x - On.x, Y = By.y - On.y, Z = By.z - On.z;
  float Square = X * X + Y * Y + Z * Z + Softening;
  float Inverse = rsqrtf(Square);
  float Strength = By.w * Inverse * Inverse * Inverse;
  return {Sum.x + X * Strength, Sum.y + Y * Strength, Sum.z + Z * Strength};
}

/// w of a position is the mass; a missing body has none.
__global__ void __launch_bounds__(Threads)
    advance(const float4 *Positions, float4 *Velocities, float4 *NewPositions,
            int Bodies, float Dt) {
  __shared__ float4 Tile[Threads];
  int Body = blockIdx.x * blockDim.x + threadIdx.x;
  float4 Own = Body < Bodies ? Positions[Body] : float4{0, 0, 0, 0};
  float3 Sum = {0, 0, 0};
  for (int Base = 0; Base < Bodies; Base += Threads) {
    int Other = Base + threadIdx.x;
    Tile[threadIdx.x] = Other < Bodies ? Positions[Other] : float4{0, 0, 0, 0};
    __syncthreads();
#pragma unroll 8
    for (int I = 0; I < Threads; ++I)
      Sum = attraction(Own, Tile[I], Sum);
    __syncthreads();
  }
  if (Body >= Bodies)
    return;
  float4 V = Velocities[Body];
  V.x += Sum.x * Dt;
  V.y += Sum.y * Dt;
  V.z += Sum.z * Dt;
  Velocities[Body] = V;
  Own.x += V.x * Dt;
  Own.y += V.y * Dt;
  Own.z += V.z * Dt;
  NewPositions[Body] = Own;
}

namespace {

/// The first step's velocity of one body, in double.
void hostVelocity(const float4 *Positions, int Bodies, int Body, double Dt,
                  double (&V)[3]) {
  V[0] = V[1] = V[2] = 0;
  for (int I = 0; I < Bodies; ++I) {
    double X = double(Positions[I].x) - Positions[Body].x,
           Y = double(Positions[I].y) - Positions[Body].y,
           Z = double(Positions[I].z) - Positions[Body].z;
    double Square = X * X + Y * Y + Z * Z + Softening;
    double Strength = Positions[I].w / (Square * std::sqrt(Square));
    V[0] += X * Strength * Dt;
    V[1] += Y * Strength * Dt;
    V[2] += Z * Strength * Dt;
  }
}

bool checkFirstStep(const float4 *Start, const float4 *Velocities, int Bodies,
                    double Dt) {
  bool Right = true;
  for (int I = 0; I < 16; ++I) {
    int Body = int(example::noise(900 + I) * Bodies);
    double Want[3];
    hostVelocity(Start, Bodies, Body, Dt, Want);
    const float4 &Have = Velocities[Body];
    double Size =
        std::sqrt(Want[0] * Want[0] + Want[1] * Want[1] + Want[2] * Want[2]);
    Right &= std::fabs(Have.x - Want[0]) <= 1e-3 * Size &&
             std::fabs(Have.y - Want[1]) <= 1e-3 * Size &&
             std::fabs(Have.z - Want[2]) <= 1e-3 * Size;
  }
  return Right;
}

} // namespace

int main(int Count, char **Arguments) {
  int Bodies = example::argument(Count, Arguments, 1, 40000);
  int Steps = example::argument(Count, Arguments, 2, 60);
  constexpr float Dt = 1e-3f;
  std::printf("nbody: %d bodies, %d steps\n", Bodies, Steps);
  size_t Bytes = Bodies * sizeof(float4);
  float4 *Host, *Snapshot, *Positions[2], *Velocities;
  CUDA(cudaMallocHost(&Host, Bytes));
  CUDA(cudaHostAlloc(&Snapshot, Bytes, cudaHostAllocDefault));
  for (float4 *&Buffer : Positions)
    CUDA(cudaMalloc(&Buffer, Bytes));
  CUDA(cudaMalloc(&Velocities, Bytes));
  for (int I = 0; I < Bodies; ++I)
    Host[I] = {float(example::noise(4 * I)), float(example::noise(4 * I + 1)),
               float(example::noise(4 * I + 2)),
               float((0.5 + example::noise(4 * I + 3)) / Bodies)};

  cudaStream_t Compute, Copy;
  cudaEvent_t Ready, Taken;
  CUDA(cudaStreamCreateWithFlags(&Compute, cudaStreamNonBlocking));
  CUDA(cudaStreamCreateWithFlags(&Copy, cudaStreamNonBlocking));
  CUDA(cudaEventCreateWithFlags(&Ready, cudaEventDisableTiming));
  CUDA(cudaEventCreateWithFlags(&Taken, cudaEventDisableTiming));
  CUDA(cudaMemcpyAsync(Positions[0], Host, Bytes, cudaMemcpyHostToDevice,
                       Compute));
  CUDA(cudaMemsetAsync(Velocities, 0, Bytes, Compute));

  example::Timer Time;
  bool Right = true;
  int Blocks = example::ceilDivide(Bodies, Threads);
  for (int Step = 0; Step < Steps; ++Step) {
    const float4 *From = Positions[Step % 2];
    float4 *To = Positions[(Step + 1) % 2];
    advance<<<Blocks, Threads, 0, Compute>>>(From, Velocities, To, Bodies, Dt);
    CUDA(cudaGetLastError());
    if (Step == 0) {
      CUDA(cudaMemcpyAsync(Snapshot, Velocities, Bytes, cudaMemcpyDeviceToHost,
                           Compute));
      CUDA(cudaStreamSynchronize(Compute));
      Right &= checkFirstStep(Host, Snapshot, Bodies, Dt);
    }
    if (Step % 10 != 9)
      continue;
    // Positions leave while the next step runs; the step after it would
    // overwrite them and waits.
    CUDA(cudaEventRecord(Ready, Compute));
    CUDA(cudaStreamWaitEvent(Copy, Ready, 0));
    CUDA(cudaMemcpyAsync(Snapshot, To, Bytes, cudaMemcpyDeviceToHost, Copy));
    CUDA(cudaEventRecord(Taken, Copy));
    CUDA(cudaStreamWaitEvent(Compute, Taken, 0));
  }
  CUDA(cudaMemcpyAsync(Snapshot, Positions[Steps % 2], Bytes,
                       cudaMemcpyDeviceToHost, Compute));
  CUDA(cudaDeviceSynchronize());
  double Milliseconds = Time.milliseconds(), Checksum = 0;
  for (int I = 0; I < Bodies; ++I)
    Checksum += double(Snapshot[I].x) + Snapshot[I].y + Snapshot[I].z;

  for (float4 *Buffer : Positions)
    CUDA(cudaFree(Buffer));
  CUDA(cudaFree(Velocities));
  CUDA(cudaFreeHost(Host));
  CUDA(cudaFreeHost(Snapshot));
  CUDA(cudaEventDestroy(Ready));
  CUDA(cudaEventDestroy(Taken));
  CUDA(cudaStreamDestroy(Compute));
  CUDA(cudaStreamDestroy(Copy));
  return example::finish(Milliseconds, Right, Checksum);
}
