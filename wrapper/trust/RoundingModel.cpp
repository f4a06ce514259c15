// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/RoundingModel.h"

#include "wrapper/trust/Values.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <thread>

namespace r3::trust {

namespace {

constexpr double FloatLimit = 0x1p-10, DoubleLimit = 0x1p-30;
constexpr double Samples = RoundingModel::Replays;
/// Chunks that are taken in together.
constexpr size_t MostWaiting = 64;

void storeAt(std::vector<uint8_t> &Bytes, size_t Offset, ValueType Type,
             double Value) {
  if (Type == ValueType::F64) {
    std::memcpy(Bytes.data() + Offset, &Value, sizeof(Value));
    return;
  }
  const float Narrow = float(Value);
  std::memcpy(Bytes.data() + Offset, &Narrow, sizeof(Narrow));
}

/// The square root of the sum of squares. Where these stay in range the library
/// need not look after that.
double lengthOf(double A, double B) {
  constexpr double Least = 0x1p-500, Most = 0x1p+500;
  const double Larger = std::max(std::fabs(A), std::fabs(B));
  return Larger > Least && Larger < Most ? std::sqrt(A * A + B * B)
                                         : std::hypot(A, B);
}

/// Quarters of an octave: a sigma is known to an eighth.
int quarterOf(double Sigma) {
  int Exponent = 0;
  const double Mantissa = std::frexp(Sigma, &Exponent); // [0.5, 1)
  return 4 * Exponent + int(8 * (Mantissa - 0.5));
}

double middleOf(int Quarter) {
  const int Part = ((Quarter % 4) + 4) % 4;
  return std::ldexp(0.5 + (Part + 0.5) / 8, (Quarter - Part) / 4);
}

/// A median of fewer sigmas is chance.
constexpr uint64_t LeastPool = 32;
constexpr int FarthestPool = 3;
constexpr int Unmoved = std::numeric_limits<int>::min();

} // namespace

RoundingModel::RoundingModel(Buffer Where, uint64_t LimitBytes)
    : Where(std::move(Where)), LimitBytes(LimitBytes) {
  assert(hasTolerance(this->Where.Type) && "only float and double have sigmas");
}

void RoundingModel::beginReplay() {
  takeWaiting();
  ++Begun;
}

void RoundingModel::addElement(Chunk &To, size_t Offset, double Expected,
                               double Got, Sums &Moved) const {
  const double Difference = Got - Expected;
  const double Norm =
      lengthOf(valueAt(To.Norm, Offset, Where.Type), Difference);
  const double Sum = valueAt(To.Sum, Offset, Where.Type) + Difference;
  // Not a number from here on: unstable.
  const bool Known = std::isfinite(Norm) && std::isfinite(Sum);
  storeAt(To.Norm, Offset, Where.Type, Known ? Norm : std::nan(""));
  storeAt(To.Sum, Offset, Where.Type, Known ? Sum : 0);
  if (!Known)
    return;
  Shift &S = Moved[exponentOf(Expected, Where.Type)];
  S.Upward += Difference;
  S.Outward += std::copysign(1.0, Expected) * Difference;
}

void RoundingModel::addChunk(const DifferingChunk &Given) {
  assert(Begun && Begun <= Replays && "beginReplay is missing");
  const size_t Bytes = Given.Expected.size();
  auto Found = Chunks.find(Given.Offset);
  if (Found == Chunks.end()) {
    if (KeptBytes + 3 * Bytes > LimitBytes) {
      Overflow = true;
      return;
    }
    KeptBytes += 3 * Bytes;
    Chunk Fresh;
    Fresh.Record.assign(Given.Expected.begin(), Given.Expected.end());
    Fresh.Sum.resize(Bytes);
    Fresh.Norm.resize(Bytes);
    Found = Chunks.emplace(Given.Offset, std::move(Fresh)).first;
  }
  Queue.push_back({&Found->second, {Given.Got.begin(), Given.Got.end()}});
  if (Queue.size() == MostWaiting)
    takeWaiting();
}

void RoundingModel::takeWaiting() {
  std::atomic<size_t> Next{0};
  auto Work = [&] {
    for (size_t I; (I = Next++) < Queue.size();)
      take(Queue[I]);
  };
  const size_t Cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::jthread> Others;
  for (size_t I = 1; I < std::min(Cores, Queue.size()); ++I)
    Others.emplace_back(Work);
  Work();
  Others.clear(); // all have ended
  Queue.clear();
}

void RoundingModel::take(const Waiting &From) const {
  const std::vector<uint8_t> &Record = From.To->Record;
  Sums Moved;
  const size_t Size = elementSize(Where.Type);
  for (size_t O = 0; O + Size <= Record.size(); O += Size) {
    if (!std::memcmp(Record.data() + O, From.Got.data() + O, Size))
      continue;
    const double Expected = valueAt(Record, O, Where.Type);
    const double Got = valueAt(From.Got, O, Where.Type);
    if (!std::isfinite(Expected) && sameClass(Expected, Got))
      continue;
    addElement(*From.To, O, Expected, Got, Moved);
  }
  for (const auto &[Exponent, Sum] : Moved)
    From.To->Shifts[Exponent][Begun - 1] = Sum;
}

double RoundingModel::ownSigma(const Chunk &In, size_t Offset) const {
  const double Norm = valueAt(In.Norm, Offset, Where.Type);
  const double Sum = valueAt(In.Sum, Offset, Where.Type);
  // Factors rather than squares: a double's square may be out of range.
  const double Shift = std::fabs(Sum) / std::sqrt(Samples);
  return Norm > Shift ? std::sqrt(Norm - Shift) *
                            std::sqrt((Norm + Shift) / (Samples - 1))
                      : 0;
}

Judgement RoundingModel::finish() {
  takeWaiting();
  if (Begun != Replays)
    return {Outcome::NotVerifiable,
            format("%s: %u replays with random rounding, %u are needed",
                   Where.Name.c_str(), Begun, Replays)};
  if (Overflow)
    return {Outcome::NotVerifiable,
            format("%s: more than %llu MiB are needed to tell rounding errors",
                   Where.Name.c_str(),
                   static_cast<unsigned long long>(LimitBytes >> 20))};
  const double Part = poolSigmas();
  const double Limit = Where.Type == ValueType::F32 ? FloatLimit : DoubleLimit;
  if (Part > Limit)
    return {Outcome::NotVerifiable,
            format("rounding alone moves %s by %.3g of its RMS, more than %.3g",
                   Where.Name.c_str(), Part, Limit)};
  Reach = farthest();
  return judgeRecord();
}

Judgement RoundingModel::judgeRecord() const {
  Judgement Result;
  forEachNumber([&](uint64_t Offset, double Value, const Element &E) {
    const double Sigmas = std::fabs(Value - E.Mean) / E.Sigma;
    if (Sigmas > MostSigmas && Result.ok())
      Result = {Outcome::NotVerifiable,
                format("%s[%llu]: recorded %.9g, replays with random rounding "
                       "give %.9g on average, %.3g sigma away",
                       Where.Name.c_str(),
                       static_cast<unsigned long long>(Offset /
                                                       elementSize(Where.Type)),
                       Value, E.Mean, Sigmas)};
  });
  return Result;
}

double RoundingModel::farthest() const {
  struct Bin {
    uint64_t Elements = 0;
    double Largest = 0;
  };
  std::map<int, Bin, std::greater<>> Sigmas; // by quarters of octaves
  uint64_t Elements = 0;
  long double Off = 0,
              Spread = 0; // squares, which may be out of double's range
  forEachNumber([&](uint64_t, double Value, const Element &E) {
    Bin &B = Sigmas[quarterOf(E.Sigma)];
    ++B.Elements;
    B.Largest = std::max(B.Largest, E.Sigma);
    ++Elements;
    const long double D = Value - E.Mean;
    Off += D * D;
  });
  constexpr uint64_t Share = MostSigmas * MostSigmas / (MostRms * MostRms);
  uint64_t Left = (Elements + Share - 1) / Share;
  for (const auto &[Quarter, B] : Sigmas) {
    const uint64_t Taken = std::min(Left, B.Elements);
    Spread += static_cast<long double>(B.Largest) * B.Largest * Taken;
    Left -= Taken;
  }
  return double(MostSigmas * std::sqrt(Spread) + std::sqrt(Off));
}

template <typename Function>
void RoundingModel::forEachValue(Function Visit) const {
  const size_t Size = elementSize(Where.Type);
  for (const auto &[Offset, C] : Chunks)
    for (size_t O = 0; O + Size <= C.Record.size(); O += Size) {
      const double Value = valueAt(C.Record, O, Where.Type);
      if (std::isfinite(Value) && !std::isnan(valueAt(C.Norm, O, Where.Type)))
        Visit(Offset + O, Value, C, O);
    }
}

template <typename Function>
void RoundingModel::forEachNumber(Function Visit) const {
  forEachValue([&](uint64_t At, double Value, const Chunk &In, size_t Offset) {
    Visit(At, Value, elementAt(In, Offset, Value));
  });
}

/// The median of the own sigmas at this exponent, with those of its neighbours
/// where they are few.
double RoundingModel::pooledSigma(int Exponent) const {
  std::map<int, uint64_t> Counts;
  uint64_t Elements = 0;
  for (int Away = 0; Away <= FarthestPool && Elements < LeastPool; ++Away)
    for (int Other : {Exponent - Away, Exponent + Away}) {
      auto Found = Pools.find(Other);
      if (Found == Pools.end() || (!Away && Elements))
        continue;
      Elements += Found->second.Elements;
      for (const auto &[Quarter, Count] : Found->second.Counts)
        Counts[Quarter] += Count;
    }
  uint64_t Passed = 0;
  for (const auto &[Quarter, Count] : Counts) {
    Passed += Count;
    if (Passed * 2 >= Elements)
      return Quarter == Unmoved ? 0 : middleOf(Quarter);
  }
  return 0;
}

/// Fills the pools; RMS of the own sigmas by RMS of the values.
double RoundingModel::poolSigmas() {
  double Largest = 0;
  forEachValue([&](uint64_t, double Value, const Chunk &, size_t) {
    Largest = std::max(Largest, std::fabs(Value));
  });
  const double Scale = Largest > 0 ? Largest : 1; // squares stay in range
  double SigmaSquares = 0, ValueSquares = 0;
  forEachNumber([&](uint64_t, double Value, const Element &E) {
    Pool &P = Pools[exponentOf(Value, Where.Type)];
    ++P.Elements;
    ++P.Counts[E.Own > 0 ? quarterOf(E.Own) : Unmoved];
    SigmaSquares += E.Own / Scale * (E.Own / Scale);
    ValueSquares += Value / Scale * (Value / Scale);
  });
  const int Least = exponentOf(0, Where.Type);
  for (int E = Least; E <= -Least + 1; ++E)
    Common.push_back(std::max(pooledSigma(E), ulpOf(E, Where.Type)));
  return SigmaSquares > 0 ? std::sqrt(SigmaSquares / ValueSquares) : 0;
}

const RoundingModel::Chunk *RoundingModel::chunkAt(uint64_t Offset) const {
  auto Found = Chunks.find(Offset);
  return Found == Chunks.end() ? nullptr : &Found->second;
}

double RoundingModel::commonSigma(double Value) const {
  const int Index = exponentOf(Value, Where.Type) - exponentOf(0, Where.Type);
  return Common.empty() ? 0 : Common[size_t(Index)];
}

RoundingModel::Element RoundingModel::elementAt(const Chunk &In, size_t Offset,
                                                double Expected) const {
  Element Result;
  Result.Unstable = std::isnan(valueAt(In.Norm, Offset, Where.Type));
  Result.Moved = valueAt(In.Norm, Offset, Where.Type) != 0;
  Result.Mean = Expected + valueAt(In.Sum, Offset, Where.Type) / Samples;
  Result.Own = Result.Unstable ? 0 : ownSigma(In, Offset);
  Result.Sigma = std::max(Result.Own, commonSigma(Expected));
  return Result;
}

} // namespace r3::trust
