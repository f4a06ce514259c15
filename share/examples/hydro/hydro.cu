// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gas that expands from a hot spot, on a mesh of triangles that moves with
// it. Positions and velocities belong to nodes, mass and energy to cells; both
// are numbered at random, so that everything goes through indices. A cell
// pushes its nodes by its pressure times the derivative of its area, scatters
// these forces into the slots of the nodes' corners, and loses the energy that
// its forces put into the motion: the total stays. The largest stable time step
// is found on the device, where the next step reads it.
//
//   hydro [CELLS-A-SIDE [STEPS]]
#include "../common/example.h"

#include <algorithm>
#include <numeric>
#include <vector>

constexpr int Threads = 256;
constexpr double Gamma = 1.4, Courant = 0.3, Growth = 1.1;

/// Which nodes a cell has, counterclockwise, and where the force on each goes.
struct Cell {
  int Node[3], Slot[3];
};

/// What the mesh is made of; arrays of the device.
struct Mesh {
  int Nodes, Cells;
  const Cell *Corners;
  const int *FirstSlot; // of a node: Nodes + 1
  const double *CellMass, *NodeMass;
  const int *Walls; // of a node: 1 keeps its x, 2 its y
};

__device__ inline double2 operator-(double2 A, double2 B) {
  return {A.x - B.x, A.y - B.y};
}
__device__ inline double dot(double2 A, double2 B) {
  return A.x * B.x + A.y * B.y;
}
__device__ inline double length(double2 A) { return sqrt(dot(A, A)); }

/// The derivative of a triangle's area by the corner opposite of From to To.
__device__ inline double2 areaBy(double2 From, double2 To) {
  return {0.5 * (From.y - To.y), 0.5 * (To.x - From.x)};
}

__device__ inline double areaOf(const double2 P[3]) {
  double2 A = P[1] - P[0], B = P[2] - P[0];
  return 0.5 * (A.x * B.y - A.y * B.x);
}

/// Density and pressure of each cell, with a viscosity where it is compressed,
/// the forces of both, and the time in which a sound wave crosses it.
__global__ void pushNodes(Mesh M, const double2 *Position,
                          const double2 *Velocity, const double *Energy,
                          double2 *Force, double *Crossing) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= M.Cells)
    return;
  Cell C = M.Corners[I];
  double2 P[3], AreaBy[3];
  for (int K = 0; K < 3; ++K)
    P[K] = Position[C.Node[K]];
  double Area = areaOf(P), Change = 0, Longest = 0;
  for (int K = 0; K < 3; ++K) {
    double2 From = P[(K + 1) % 3], To = P[(K + 2) % 3];
    AreaBy[K] = areaBy(From, To);
    Change += dot(AreaBy[K], Velocity[C.Node[K]]);
    Longest = fmax(Longest, length(To - From));
  }
  double Density = M.CellMass[I] / Area, Height = 2 * Area / Longest;
  double Pressure = (Gamma - 1) * Density * Energy[I];
  double Sound = sqrt(Gamma * (Gamma - 1) * Energy[I]);
  double Compression = fmax(0.0, -Change / Area) * Height;
  double Viscosity = Density * Compression * (0.5 * Sound + 1.5 * Compression);
  for (int K = 0; K < 3; ++K)
    Force[C.Slot[K]] = {(Pressure + Viscosity) * AreaBy[K].x,
                        (Pressure + Viscosity) * AreaBy[K].y};
  Crossing[I] = Height / (Sound + 4 * Compression + 1e-12);
}

/// The mean of a node's velocities before and after the step, in Mean.
__global__ void accelerate(Mesh M, const double2 *Force, const double *Step,
                           double2 *Velocity, double2 *Mean) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= M.Nodes)
    return;
  double2 Sum = {0, 0};
  for (int Slot = M.FirstSlot[I]; Slot < M.FirstSlot[I + 1]; ++Slot) {
    Sum.x += Force[Slot].x;
    Sum.y += Force[Slot].y;
  }
  double2 Old = Velocity[I], New = Old;
  double Scale = *Step / M.NodeMass[I];
  New.x = M.Walls[I] & 1 ? 0 : Old.x + Scale * Sum.x;
  New.y = M.Walls[I] & 2 ? 0 : Old.y + Scale * Sum.y;
  Velocity[I] = New;
  Mean[I] = {0.5 * (Old.x + New.x), 0.5 * (Old.y + New.y)};
}

__global__ void moveNodes(int Nodes, const double2 *Mean, const double *Step,
                          double2 *Position) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= Nodes)
    return;
  Position[I].x += *Step * Mean[I].x;
  Position[I].y += *Step * Mean[I].y;
}

/// The work of a cell's forces comes from its inner energy.
__global__ void payForWork(Mesh M, const double2 *Force, const double2 *Mean,
                           const double *Step, double *Energy) {
  int I = blockIdx.x * blockDim.x + threadIdx.x;
  if (I >= M.Cells)
    return;
  Cell C = M.Corners[I];
  double Power = 0;
  for (int K = 0; K < 3; ++K)
    Power += dot(Force[C.Slot[K]], Mean[C.Node[K]]);
  Energy[I] -= *Step * Power / M.CellMass[I];
}

/// The least of Values in each block; a grid of one block then finds the next
/// step, which may grow only slowly.
__global__ void least(const double *Values, int Size, double *OfBlocks) {
  __shared__ double OfThreads[Threads];
  double Least = 1e300;
  for (int I = blockIdx.x * blockDim.x + threadIdx.x; I < Size;
       I += gridDim.x * blockDim.x)
    Least = fmin(Least, Values[I]);
  OfThreads[threadIdx.x] = Least;
  for (int Half = Threads / 2; Half > 0; Half /= 2) {
    __syncthreads();
    if (threadIdx.x < Half)
      OfThreads[threadIdx.x] =
          fmin(OfThreads[threadIdx.x], OfThreads[threadIdx.x + Half]);
  }
  if (threadIdx.x == 0)
    OfBlocks[blockIdx.x] = OfThreads[0];
}

__global__ void chooseStep(const double *OfBlocks, int Blocks, double *Step,
                           double *Time) {
  double Least = 1e300;
  for (int I = 0; I < Blocks; ++I)
    Least = fmin(Least, OfBlocks[I]);
  *Time += *Step;
  *Step = fmin(Courant * Least, Growth * *Step);
}

namespace {

struct HostMesh {
  std::vector<double2> Position;
  std::vector<Cell> Corners;
  std::vector<int> FirstSlot, Walls;
  std::vector<double> CellMass, NodeMass, Energy;
};

/// 0..Size-1 in an order that looks random.
std::vector<int> shuffled(int Size, uint64_t Seed) {
  std::vector<int> Order(Size);
  std::iota(Order.begin(), Order.end(), 0);
  for (int I = Size - 1; I > 0; --I)
    std::swap(Order[I], Order[int(example::noise(Seed + I) * (I + 1))]);
  return Order;
}

/// Squares with moved corners, each cut along one of its diagonals.
void addTriangles(HostMesh &M, int Side) {
  int Line = Side + 1;
  std::vector<int> Name = shuffled(Line * Line, 1);
  M.Position.resize(Line * Line);
  M.Walls.resize(Line * Line);
  for (int Y = 0; Y < Line; ++Y)
    for (int X = 0; X < Line; ++X) {
      int Wall = (X % Side ? 0 : 1) + (Y % Side ? 0 : 2), I = Y * Line + X;
      auto Moved = [&](int At, bool Stays, uint64_t Seed) {
        double By = Stays ? 0 : 0.3 * (example::noise(Seed + I) - 0.5);
        return (At + By) / Side;
      };
      M.Position[Name[I]] = {Moved(X, Wall & 1, 1ull << 33),
                             Moved(Y, Wall & 2, 1ull << 34)};
      M.Walls[Name[I]] = Wall;
    }
  M.Corners.resize(2 * Side * Side);
  std::vector<int> Place = shuffled(2 * Side * Side, 1ull << 35);
  for (int I = 0; I < Side * Side; ++I) {
    int At = I / Side * Line + I % Side;
    int Q[4] = {Name[At], Name[At + 1], Name[At + Line + 1], Name[At + Line]};
    int Turn = example::noise((1ull << 36) + I) < 0.5;
    M.Corners[Place[2 * I]] = {{Q[Turn], Q[Turn + 1], Q[Turn + 2]}, {}};
    M.Corners[Place[2 * I + 1]] = {{Q[Turn], Q[Turn + 2], Q[(Turn + 3) % 4]},
                                   {}};
  }
}

double areaOf(const HostMesh &M, const Cell &C) {
  double2 A = M.Position[C.Node[0]], B = M.Position[C.Node[1]],
          D = M.Position[C.Node[2]];
  return 0.5 * ((B.x - A.x) * (D.y - A.y) - (B.y - A.y) * (D.x - A.x));
}

/// Slots of corners in the order of nodes, masses of density 1, a hot spot.
HostMesh build(int Side) {
  HostMesh M;
  addTriangles(M, Side);
  M.FirstSlot.assign(M.Position.size() + 1, 0);
  for (const Cell &C : M.Corners)
    for (int Node : C.Node)
      ++M.FirstSlot[Node + 1];
  std::partial_sum(M.FirstSlot.begin(), M.FirstSlot.end(), M.FirstSlot.begin());
  std::vector<int> Next(M.FirstSlot.begin(), M.FirstSlot.end() - 1);
  M.NodeMass.assign(M.Position.size(), 0);
  for (Cell &C : M.Corners) {
    double Mass = areaOf(M, C), X = 0, Y = 0;
    for (int K = 0; K < 3; ++K) {
      C.Slot[K] = Next[C.Node[K]]++;
      M.NodeMass[C.Node[K]] += Mass / 3;
      X += M.Position[C.Node[K]].x / 3;
      Y += M.Position[C.Node[K]].y / 3;
    }
    M.CellMass.push_back(Mass);
    double Distance = std::hypot(X - 0.4, Y - 0.55);
    M.Energy.push_back(1 + 9 * std::exp(-50 * Distance * Distance));
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

template <typename T> void download(std::vector<T> &Values, const T *Where) {
  CUDA(cudaMemcpy(Values.data(), Where, Values.size() * sizeof(T),
                  cudaMemcpyDeviceToHost));
}

/// Inner energy and that of the motion.
double totalEnergy(const HostMesh &M, const std::vector<double2> &Velocity) {
  double Sum = 0;
  for (size_t I = 0; I < M.Energy.size(); ++I)
    Sum += M.CellMass[I] * M.Energy[I];
  for (size_t I = 0; I < Velocity.size(); ++I)
    Sum += 0.5 * M.NodeMass[I] *
           (Velocity[I].x * Velocity[I].x + Velocity[I].y * Velocity[I].y);
  return Sum;
}

} // namespace

int main(int Count, char **Arguments) {
  int Side = example::argument(Count, Arguments, 1, 700, 5000);
  int Steps = example::argument(Count, Arguments, 2, 300);
  HostMesh Host = build(Side);
  int Nodes = int(Host.Position.size()), Cells = int(Host.Corners.size());
  std::printf("hydro: %d cells, %d nodes, %d steps\n", Cells, Nodes, Steps);
  std::vector<double2> Still(Nodes, double2{0, 0});
  double Before = totalEnergy(Host, Still);

  Cell *Corners = upload(Host.Corners);
  int *FirstSlot = upload(Host.FirstSlot), *Walls = upload(Host.Walls);
  double *CellMass = upload(Host.CellMass), *NodeMass = upload(Host.NodeMass);
  Mesh M{Nodes, Cells, Corners, FirstSlot, CellMass, NodeMass, Walls};
  double2 *Position = upload(Host.Position), *Velocity = upload(Still);
  double2 *Mean = upload(Still);
  double2 *Force = upload(std::vector<double2>(3 * size_t(Cells)));
  double *Energy = upload(Host.Energy), *Crossing = upload(Host.Energy);
  int CellBlocks = example::ceilDivide(Cells, Threads);
  int NodeBlocks = example::ceilDivide(Nodes, Threads);
  int LeastBlocks = std::min(256, CellBlocks);
  double *OfBlocks = upload(std::vector<double>(LeastBlocks));
  double *Step = upload(std::vector<double>{0.01 / Side});
  double *Now = upload(std::vector<double>{0});

  example::Timer Time;
  for (int I = 0; I < Steps; ++I) {
    pushNodes<<<CellBlocks, Threads>>>(M, Position, Velocity, Energy, Force,
                                       Crossing);
    accelerate<<<NodeBlocks, Threads>>>(M, Force, Step, Velocity, Mean);
    moveNodes<<<NodeBlocks, Threads>>>(Nodes, Mean, Step, Position);
    payForWork<<<CellBlocks, Threads>>>(M, Force, Mean, Step, Energy);
    least<<<LeastBlocks, Threads>>>(Crossing, Cells, OfBlocks);
    chooseStep<<<1, 1>>>(OfBlocks, LeastBlocks, Step, Now);
    CUDA(cudaGetLastError());
  }
  CUDA(cudaDeviceSynchronize());
  double Milliseconds = Time.milliseconds();

  std::vector<double> Reached(1);
  download(Host.Position, Position);
  download(Host.Energy, Energy);
  download(Still, Velocity);
  download(Reached, Now);
  // The energy stays, something moves, and no cell is turned inside out.
  double After = totalEnergy(Host, Still), Area = 0, Speed = 0;
  bool Right = example::near(After, Before, 1e-11) && Reached[0] > 0;
  for (const Cell &C : Host.Corners) {
    Right &= areaOf(Host, C) > 0;
    Area += areaOf(Host, C);
  }
  for (double2 V : Still)
    Speed += std::hypot(V.x, V.y) / Nodes;
  Right &= example::near(Area, 1, 1e-11) && Speed > 0;
  double Inner = 0;
  for (int I = 0; I < Cells; ++I)
    Inner += Host.CellMass[I] * Host.Energy[I];
  for (void *Where :
       {(void *)Corners, (void *)FirstSlot, (void *)Walls, (void *)CellMass,
        (void *)NodeMass, (void *)Position, (void *)Velocity, (void *)Mean,
        (void *)Force, (void *)Energy, (void *)Crossing, (void *)OfBlocks,
        (void *)Step, (void *)Now})
    CUDA(cudaFree(Where));
  return example::finish(Milliseconds, Right, Inner + Speed + Reached[0]);
}
