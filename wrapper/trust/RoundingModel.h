// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far rounding alone moves the elements of one float or double buffer:
// what 16 replays of the original have shown in which each floating operation
// is rounded up or down at random (Monte Carlo arithmetic: D. S. Parker, UCLA
// CSD-970002, 1997). Up with the probability that the exact result's place
// between its two neighbours gives: then the mean is the exact result, and an
// exact result stays exact. A plain coin adds half an ULP to a sum for each
// term that is lost in it, so that the mean is off by up to 20 sigma (simulated
// with 1,024 terms over a range of 2^48).
//
// Replays come one after the other, each chunk by chunk, so an element keeps
// two numbers of its own type, the sum and the norm of its deviations from the
// recorded outcome, and the recorded value: 3 words for each word of a chunk in
// which some replay differs, nothing for the others. From them come the mean
// and the element's own sigma. sigma = max(own, pooled, 1 ULP); pooled is the
// median of the own sigmas of all elements with the same binary exponent, and
// of up to 3 exponents on both sides where these are fewer than 32. Not their
// RMS: one ill-conditioned element would lend its tolerance to all.
//
// Chunks have nothing to do with each other: some dozens of one replay are
// collected, and then taken in by as many threads as there are cores.
#pragma once

#include "wrapper/trust/Verdict.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace r3::trust {

class RoundingModel {
public:
  static constexpr unsigned Replays = 16;
  /// Of a result that is accepted: of each element, and RMS over all
  /// (Tolerance.h).
  static constexpr double MostSigmas = 12, MostRms = 3;
  static constexpr uint64_t DefaultLimitBytes = 4ull << 30;

  /// Where.Type must have a tolerance. LimitBytes: what may be kept.
  explicit RoundingModel(Buffer Where, uint64_t LimitBytes = DefaultLimitBytes);

  /// Use: for each of the replays beginReplay, then addChunk for each chunk
  /// that differs from the recorded outcome (Chunk.Buffer is not looked at);
  /// then finish once. A chunk may come once in a replay; its bytes are copied.
  void beginReplay();
  void addChunk(const DifferingChunk &Chunk);
  /// NotVerifiable: not 16 replays; more than LimitBytes; a rounding error
  /// (RMS of sigma) of more than 2^-10 (float), 2^-30 (double) of the RMS of
  /// the values, since such a tolerance accepts what is no result; a recorded
  /// value that is more than 12 sigma from the mean of the replays, since then
  /// they did not compute the same.
  Judgement finish();

  const Buffer &buffer() const { return Where; }

  /// How far from the recorded outcome an accepted result can be at most, as
  /// the norm of the difference: |d_i| <= 12 sigma_i and RMS(d / sigma) <= 3
  /// leave most where the sixteenth of the elements with the largest sigma is
  /// off by 12 sigma each and the others are right; beside it, how far the
  /// mean of the replays is from the record.
  double reach() const { return Reach; }

  /// What is known of one element.
  struct Element {
    double Mean = 0;
    double Own = 0;     // sigma of the replays
    double Sigma = 0;   // of a difference
    bool Moved = false; // some replay differs from the record
    /// NaN or infinity in some replays, a number in others.
    bool Unstable = false;
  };

private:
  friend class ToleranceCheck;

  /// Sums of deviations: of the values, and of their magnitudes.
  struct Shift {
    double Upward = 0, Outward = 0;
  };
  struct Chunk {
    std::vector<uint8_t> Record, Sum, Norm;
    /// By the record's exponent, what each replay did to the sum of values.
    std::map<int, std::array<Shift, Replays>> Shifts;
  };
  /// The own sigmas of the elements of one exponent.
  struct Pool {
    std::map<int, uint64_t> Counts; // by quarters of octaves
    uint64_t Elements = 0;
  };

  /// A chunk of a replay that has not been taken in.
  struct Waiting {
    Chunk *To;
    std::vector<uint8_t> Got;
  };
  using Sums = std::map<int, Shift>; // by exponent

  void takeWaiting();
  void take(const Waiting &From) const;
  void addElement(Chunk &To, size_t Offset, double Expected, double Got,
                  Sums &Moved) const;
  /// Visit(offset in the buffer, recorded value, chunk, offset in it) for each
  /// stable, finite element.
  template <typename Function> void forEachValue(Function Visit) const;
  /// Visit(offset in the buffer, recorded value, element).
  template <typename Function> void forEachNumber(Function Visit) const;
  double poolSigmas();
  double pooledSigma(int Exponent) const;
  double farthest() const;
  Judgement judgeRecord() const;
  const Chunk *chunkAt(uint64_t Offset) const;
  double ownSigma(const Chunk &In, size_t Offset) const;
  /// The element at byte Offset of a chunk, whose recorded value is finite.
  Element elementAt(const Chunk &In, size_t Offset, double Expected) const;
  /// max(pooled, 1 ULP) for values of this exponent; 0 before finish.
  double commonSigma(double Value) const;

  Buffer Where;
  uint64_t LimitBytes;
  uint64_t KeptBytes = 0;
  unsigned Begun = 0;
  bool Overflow = false;
  std::map<uint64_t, Chunk> Chunks;
  std::map<int, Pool> Pools;
  double Reach = 0;
  std::vector<double> Common; // commonSigma from the least exponent on
  std::vector<Waiting> Queue;
};

} // namespace r3::trust
