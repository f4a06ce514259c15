// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The physics: every loop is a forall with a lambda.
#include "hydro.h"

namespace {

constexpr double Gamma = 1.4;

__host__ __device__ inline double pressure(double Density, double Energy) {
  return (Gamma - 1) * Density * Energy;
}

} // namespace

Tube makeTube(int Zones) {
  Tube T;
  T.Zones = Zones;
  T.Position = forall::allocate<double>(Zones + 1);
  T.Velocity = forall::allocate<double>(Zones + 1);
  for (forall::View<double> *V : {&T.Mass, &T.Energy, &T.Density, &T.Stress})
    *V = forall::allocate<double>(Zones);
  CUDA(cudaMemset(T.Velocity.Data, 0, (Zones + 1) * sizeof(double)));
  forall::View<double> Position = T.Position, Mass = T.Mass, Energy = T.Energy,
                       Density = T.Density;
  double Width = 1.0 / Zones;
  forall::forall(nullptr, 0, Zones + 1,
                 [=] __device__(int I) { Position[I] = I * Width; });
  // Dense and hot on the left, thin and cold on the right.
  forall::forall(nullptr, 0, Zones, [=] __device__(int I) {
    bool Left = I < Zones / 2;
    Density[I] = Left ? 1.0 : 0.125;
    Energy[I] = Left ? 2.5 : 2.0;
    Mass[I] = Density[I] * Width;
  });
  return T;
}

void freeTube(Tube &T) {
  for (forall::View<double> *V :
       {&T.Position, &T.Velocity, &T.Mass, &T.Energy, &T.Density, &T.Stress})
    CUDA(cudaFree(V->Data));
}

void advance(const Tube &Whole, double Dt, cudaStream_t Stream) {
  Tube T = Whole;
  // Stress of each zone: pressure, and viscosity where it is compressed.
  forall::forall(Stream, 0, T.Zones, [=] __device__(int I) {
    double Push = T.Velocity[I + 1] - T.Velocity[I];
    double Sound =
        sqrt(Gamma * pressure(T.Density[I], T.Energy[I]) / T.Density[I]);
    double Viscosity =
        Push < 0 ? T.Density[I] * (2 * Push * Push - 0.5 * Sound * Push) : 0.0;
    T.Stress[I] = pressure(T.Density[I], T.Energy[I]) + Viscosity;
  });
  // The walls stand still.
  forall::forall<forall::Threads<128>>(
      Stream, 1, T.Zones, [=] __device__(int I) {
        double NodeMass = 0.5 * (T.Mass[I - 1] + T.Mass[I]);
        T.Velocity[I] += Dt * (T.Stress[I - 1] - T.Stress[I]) / NodeMass;
      });
  forall::forall(Stream, 0, T.Zones, [=] __device__(int I) {
    T.Energy[I] -=
        Dt * T.Stress[I] * (T.Velocity[I + 1] - T.Velocity[I]) / T.Mass[I];
  });
  forall::forall(Stream, 0, T.Zones + 1, [=] __device__(int I) {
    T.Position[I] += Dt * T.Velocity[I];
  });
  forall::forall(Stream, 0, T.Zones, [=] __device__(int I) {
    T.Density[I] = T.Mass[I] / (T.Position[I + 1] - T.Position[I]);
  });
}

void totalEnergy(const Tube &Whole, double *Out, cudaStream_t Stream) {
  Tube T = Whole;
  forall::sum(Stream, T.Zones, Out, [=] __device__(int I) {
    double Left = T.Velocity[I], Right = T.Velocity[I + 1];
    return T.Mass[I] * (T.Energy[I] + 0.25 * (Left * Left + Right * Right));
  });
}
