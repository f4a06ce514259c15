// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating arithmetic with a choice of rounding, and a model of a buffer made
// of 16 runs with random rounding: what the tests of the tolerance compute
// with. The exact error of an operation comes from error-free transformations
// (Dekker, Knuth); it says whether there is anything to round, and where to.
#pragma once

#include "wrapper/trust/Tolerance.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace r3::trust::testing {

using Random = std::mt19937_64;

enum class Rounding { Nearest, Random, TowardZero };

template <typename T> class Arithmetic {
public:
  explicit Arithmetic(Rounding Mode = Rounding::Nearest, uint64_t Seed = 0)
      : Mode(Mode), Source(Seed) {}

  T add(T A, T B) {
    const T S = A + B, Part = S - A;
    return round(S, (A - (S - Part)) + (B - Part));
  }
  T sub(T A, T B) { return add(A, -B); }
  T mul(T A, T B) {
    const T P = A * B;
    return round(P, std::fma(A, B, -P));
  }
  T fma(T A, T B, T C) {
    const T F = std::fma(A, B, C), P = A * B, PE = std::fma(A, B, -P);
    return round(F, T((static_cast<long double>(P) - F) + C + PE));
  }
  T div(T A, T B) {
    const T Q = A / B;
    const T Rest = std::fma(-Q, B, A);
    return round(Q, B > 0 ? Rest : -Rest);
  }
  T sqrt(T A) {
    const T R = std::sqrt(A);
    return round(R, std::fma(-R, R, A));
  }

private:
  /// Error: exact result - Value.
  T round(T Value, T Error) {
    if (Mode == Rounding::Nearest || Error == 0 || !std::isfinite(Value))
      return Value;
    const T Away = Error > 0 ? std::numeric_limits<T>::infinity()
                             : -std::numeric_limits<T>::infinity();
    if (Mode == Rounding::TowardZero)
      return (Error < 0) == (Value > 0) ? std::nextafter(Value, T(0)) : Value;
    // Away with the probability that makes the mean exact.
    const T Next = std::nextafter(Value, Away);
    const double Part = double(Error) / (double(Next) - double(Value));
    return double(uint32_t(Source())) * 0x1p-32 < Part ? Next : Value;
  }

  Rounding Mode;
  Random Source;
};

template <typename T> std::vector<uint8_t> bytesOf(const std::vector<T> &V) {
  std::vector<uint8_t> Result(V.size() * sizeof(T));
  std::memcpy(Result.data(), V.data(), Result.size());
  return Result;
}

template <typename T>
using Kernel = std::function<std::vector<T>(Arithmetic<T> &)>;

/// A buffer that a kernel fills, its random-rounding replays and checks.
template <typename T> class Experiment {
public:
  static constexpr size_t ChunkElements = 65536 / sizeof(T);

  /// Recorded: empty for what the original gives, rounded to nearest.
  Experiment(const Kernel<T> &Original, uint64_t Seed,
             std::vector<T> Recorded = {})
      : Model({"out", 0x1000, 1 << 20,
               sizeof(T) == 4 ? ValueType::F32 : ValueType::F64}) {
    Arithmetic<T> Nearest;
    Record = Recorded.empty() ? Original(Nearest) : std::move(Recorded);
    Before.assign(Record.size(), T(-77));
    for (unsigned I = 0; I < RoundingModel::Replays; ++I) {
      Arithmetic<T> Randomly(Rounding::Random, Seed * 1000 + I);
      Model.beginReplay();
      forEachDiffering(Original(Randomly), [&](const DifferingChunk &Chunk) {
        Model.addChunk(Chunk);
      });
    }
    Ready = Model.finish();
  }

  ToleranceCheck check(const std::vector<T> &Got,
                       std::optional<UserTolerance> User = {},
                       const std::vector<double> &InDouble = {}) const {
    ToleranceCheck Result(Model, User);
    forEachDiffering(Got, [&](const DifferingChunk &Chunk) {
      auto Part = std::span(InDouble);
      if (!InDouble.empty())
        Part = Part.subspan(Chunk.Offset / sizeof(T),
                            Chunk.Expected.size() / sizeof(T));
      Result.addChunk(Chunk, Part);
    });
    return Result;
  }
  Judgement judge(const std::vector<T> &Got) const {
    return check(Got).verdict();
  }
  Judgement judge(const Kernel<T> &Variant) const {
    Arithmetic<T> Nearest;
    return judge(Variant(Nearest));
  }

  std::vector<T> Record, Before;
  RoundingModel Model;
  Judgement Ready;

private:
  template <typename Function>
  void forEachDiffering(const std::vector<T> &Got, Function Visit) const {
    const auto B = bytesOf(Before), E = bytesOf(Record), G = bytesOf(Got);
    for (size_t At = 0; At < E.size(); At += ChunkElements * sizeof(T)) {
      const size_t Size = std::min(ChunkElements * sizeof(T), E.size() - At);
      auto Part = [&](const std::vector<uint8_t> &Bytes) {
        return std::span(Bytes).subspan(At, Size);
      };
      if (std::memcmp(E.data() + At, G.data() + At, Size))
        Visit(DifferingChunk{0, At, Part(B), Part(E), Part(G)});
    }
  }
};

} // namespace r3::trust::testing
