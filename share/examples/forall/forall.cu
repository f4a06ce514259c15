// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the tube and looks at what must not change: mass and energy.
//
//   forall [ZONES [STEPS]]
#include "hydro.h"

#include <vector>

int main(int Count, char **Arguments) {
  int Zones = example::argument(Count, Arguments, 1, 1000000);
  int Steps = example::argument(Count, Arguments, 2, 500);
  std::printf("forall: %d zones, %d steps\n", Zones, Steps);
  cudaStream_t Stream;
  CUDA(cudaStreamCreate(&Stream));
  Tube T = makeTube(Zones);
  double *Sums; // pinned and mapped: energy before, after, mass
  double *OnDevice;
  CUDA(cudaHostAlloc(&Sums, 3 * sizeof(double), cudaHostAllocMapped));
  CUDA(cudaHostGetDevicePointer(&OnDevice, Sums, 0));
  CUDA(cudaDeviceSynchronize());
  totalEnergy(T, OnDevice, Stream);

  example::Timer Time;
  double Dt = 0.1 / Zones;
  for (int Step = 0; Step < Steps; ++Step)
    advance(T, Dt, Stream);
  totalEnergy(T, OnDevice + 1, Stream);
  forall::sum(Stream, Zones, OnDevice + 2, [=] __device__(int I) {
    return T.Density[I] * (T.Position[I + 1] - T.Position[I]);
  });
  CUDA(cudaStreamSynchronize(Stream));
  double Milliseconds = Time.milliseconds();

  std::vector<double> Velocity(Zones + 1), Density(Zones);
  CUDA(cudaMemcpy(Velocity.data(), T.Velocity.Data,
                  Velocity.size() * sizeof(double), cudaMemcpyDeviceToHost));
  CUDA(cudaMemcpy(Density.data(), T.Density.Data,
                  Density.size() * sizeof(double), cudaMemcpyDeviceToHost));
  double Checksum = 0, Fastest = 0;
  for (int I = 0; I < Zones; ++I) {
    Checksum += Density[I] * (1 + I % 3) + Velocity[I];
    Fastest = std::fmax(Fastest, Velocity[I]);
  }
  double Mass = 1.0 * (Zones / 2) / Zones + 0.125 * (Zones - Zones / 2) / Zones;
  bool Right = example::near(Sums[1], Sums[0], 1e-2) &&
               example::near(Sums[2], Mass, 1e-9) && Fastest > 0.1 &&
               Fastest < 3;
  freeTube(T);
  CUDA(cudaFreeHost(Sums));
  CUDA(cudaStreamDestroy(Stream));
  return example::finish(Milliseconds, Right, Checksum);
}
