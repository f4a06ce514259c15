// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gas in a tube: one-dimensional Lagrangian hydrodynamics with artificial
// viscosity. Zones lie between nodes.
#pragma once

#include "forall.h"

struct Tube {
  int Zones = 0;
  forall::View<double> Position, Velocity;            // Zones + 1 nodes
  forall::View<double> Mass, Energy, Density, Stress; // Zones
};

Tube makeTube(int Zones);
void freeTube(Tube &T);
/// One step of length Dt.
void advance(const Tube &T, double Dt, cudaStream_t Stream);
/// Internal and kinetic energy into Out[0] (device memory).
void totalEnergy(const Tube &T, double *Out, cudaStream_t Stream);
