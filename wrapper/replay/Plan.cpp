// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Serialisation of a plan. Both ends come from one build (the banner says so),
// so there is no version; the reader still checks every count.
#include "wrapper/replay/Plan.h"

namespace r3::replay {

namespace {

void writeRange(ByteWriter &W, const MemoryRange &R) {
  W.u64(R.Begin);
  W.u64(R.Size);
}

MemoryRange readRange(ByteReader &R) {
  MemoryRange Result;
  Result.Begin = R.u64();
  Result.Size = R.u64();
  return Result;
}

void writeDim(ByteWriter &W, const Dim3 &D) {
  for (uint32_t Value : D)
    W.u32(Value);
}

Dim3 readDim(ByteReader &R) {
  Dim3 Result;
  for (uint32_t &Value : Result)
    Value = R.u32();
  return Result;
}

void writeConfig(ByteWriter &W, const LaunchConfig &C) {
  writeDim(W, C.Grid);
  writeDim(W, C.Block);
  writeDim(W, C.Cluster);
  W.u32(C.DynamicShared);
  W.u32(C.StaticShared);
  W.u8(C.Cooperative);
  W.u8(C.CacheConfig);
  W.u32(C.MaxDynamicShared);
  W.u32(C.Carveout);
}

LaunchConfig readConfig(ByteReader &R) {
  LaunchConfig C;
  C.Grid = readDim(R);
  C.Block = readDim(R);
  C.Cluster = readDim(R);
  C.DynamicShared = R.u32();
  C.StaticShared = R.u32();
  C.Cooperative = R.u8();
  C.CacheConfig = R.u8();
  C.MaxDynamicShared = R.u32();
  C.Carveout = R.u32();
  return C;
}

void writePlanRange(ByteWriter &W, const PlanRange &P) {
  W.u8(static_cast<uint8_t>(P.What));
  W.u64(P.Address);
  W.u64(P.Size);
  W.string(P.Global);
  W.u64(P.Before.size());
  for (const Digest &D : P.Before)
    W.digest(D);
  W.u64(P.PoolOffset.size());
  for (uint64_t Offset : P.PoolOffset)
    W.u64(Offset);
}

PlanRange readPlanRange(ByteReader &R) {
  PlanRange P;
  P.What = static_cast<PlanRange::Kind>(R.u8());
  P.Address = R.u64();
  P.Size = R.u64();
  P.Global = R.string();
  P.Before.resize(R.count(16));
  for (Digest &D : P.Before)
    D = R.digest();
  P.PoolOffset.resize(R.count(8));
  for (uint64_t &Offset : P.PoolOffset)
    Offset = R.u64();
  const size_t Offsets = P.What == PlanRange::Kind::Guard ? 0 : P.chunks();
  if (!R.failed() &&
      (P.Before.size() != P.chunks() || P.PoolOffset.size() != Offsets))
    R.reject("a range has another number of chunks than its size says");
  return P;
}

void writeSymbolic(ByteWriter &W, const SymbolicWord &S) {
  W.u32(S.Allocation);
  W.u64(S.Offset);
  W.u8(static_cast<uint8_t>(S.What));
  W.string(S.Name);
  W.u64(S.Addend);
}

SymbolicWord readSymbolic(ByteReader &R) {
  SymbolicWord S;
  S.Allocation = R.u32();
  S.Offset = R.u64();
  S.What = static_cast<SymbolicWord::Kind>(R.u8());
  S.Name = R.string();
  S.Addend = R.u64();
  return S;
}

void writeLaunch(ByteWriter &W, const PlanLaunch &L) {
  W.string(L.Kernel);
  writeConfig(W, L.Config);
  W.bytes(L.Arguments);
  W.u64(L.Symbolic.size());
  for (const SymbolicWord &S : L.Symbolic)
    writeSymbolic(W, S);
  W.u64(L.Ranges.size());
  for (const PlanRange &P : L.Ranges)
    writePlanRange(W, P);
}

PlanLaunch readLaunch(ByteReader &R) {
  PlanLaunch L;
  L.Kernel = R.string();
  L.Config = readConfig(R);
  L.Arguments = R.bytes();
  L.Symbolic.resize(R.count(29));
  for (SymbolicWord &S : L.Symbolic)
    S = readSymbolic(R);
  L.Ranges.resize(R.count(41));
  for (PlanRange &P : L.Ranges)
    P = readPlanRange(R);
  return L;
}

} // namespace

uint64_t ReplayPlan::segmentBytes() const {
  uint64_t Sum = 0;
  for (const MemoryRange &S : Segments)
    Sum += S.Size;
  return Sum;
}

std::vector<uint8_t> ReplayPlan::serialize() const {
  ByteWriter W;
  for (const auto *List : {&Windows, &Segments}) {
    W.u64(List->size());
    for (const MemoryRange &R : *List)
      writeRange(W, R);
  }
  W.u64(PoolBytes);
  W.u64(Pool.size());
  for (const PoolChunk &C : Pool) {
    W.u64(C.Offset);
    W.u32(C.Size);
    W.u32(C.File);
    W.u64(C.FileOffset);
  }
  W.u64(Launches.size());
  for (const PlanLaunch &L : Launches)
    writeLaunch(W, L);
  return W.take();
}

Expected<ReplayPlan> ReplayPlan::parse(std::span<const uint8_t> Bytes) {
  ByteReader R(Bytes, "replay plan");
  ReplayPlan P;
  for (auto *List : {&P.Windows, &P.Segments}) {
    List->resize(R.count(16));
    for (MemoryRange &Range : *List)
      Range = readRange(R);
  }
  P.PoolBytes = R.u64();
  P.Pool.resize(R.count(24));
  for (PoolChunk &C : P.Pool) {
    C.Offset = R.u64();
    C.Size = R.u32();
    C.File = R.u32();
    C.FileOffset = R.u64();
  }
  P.Launches.resize(R.count(64));
  for (PlanLaunch &L : P.Launches)
    L = readLaunch(R);
  if (Error E = R.finish())
    return E;
  return P;
}

} // namespace r3::replay
