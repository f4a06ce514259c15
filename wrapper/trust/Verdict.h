// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When is a variant right? Pure functions over digests and values: no I/O, no
// clock, so that every rule has a unit test.
//
// What is accepted here (what rounding explains is accepted too: Tolerance.h):
//   1. The original is replayed N times. Chunks of memory whose digests equal
//      the recorded outcome are done. Where a replay differs, the values are
//      compared. Bytes that are not float or double must agree in all replays
//      and with the record, else the recording is not verifiable.
//   2. A float or double buffer that the replays do not reproduce has an A/A
//      spread S: the largest difference between two replays at one element.
//      The record must lie within S of the replays' range, and S within 2^-10
//      (float) or 2^-30 (double) of the RMS of the chunks that differ.
//   3. A variant is right if all digests equal the recorded outcome, or if all
//      differing elements lie in buffers with a spread, were changed by the
//      original, and differ from the record by at most 2 S.
//   4. NaN, infinity and denormal numbers are compared by their bits, never by
//      a tolerance: small integers kept in a float buffer look like denormals.
//   5. A recording whose launch changed nothing is no evidence, unless it
//      writes memory that it does not read: that is poisoned before a replay.
//   6. Memory around the recorded allocations must be as it was.
// A buffer's element type is what the kernel stores through the pointer
// arguments that lead to it; where that is unknown, its bytes must agree.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Outcome.h"
#include "runtime/support/Recording.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace r3::trust {

/// An outcome and the sentence that explains it (empty for Ok).
struct Judgement {
  Outcome Result = Outcome::Ok;
  std::string Message;
  bool ok() const { return Result == Outcome::Ok; }
};

/// Indexes at which Got differs from Expected; where Got is shorter, all that
/// are missing.
std::vector<size_t> differing(std::span<const Digest> Expected,
                              std::span<const Digest> Got);

/// NotVerifiable where the recorded launch changed no memory and none can be
/// poisoned.
Judgement judgeEvidence(const Recording &R, uint64_t PoisonedBytes);

/// A buffer whose values may be compared.
struct Buffer {
  std::string Name; // for people
  uint64_t Address = 0;
  uint64_t Size = 0;
  ValueType Type = ValueType::Bytes;
};

/// "out[3]: expected 1, got 2". Offset: of the element in its buffer; Local:
/// in the two views.
std::string describeElement(const Buffer &Where, uint64_t Offset,
                            ValueType Type, std::span<const uint8_t> Expected,
                            std::span<const uint8_t> Got, size_t Local);

/// One chunk whose digest differs. Offset: of the chunk in its buffer. Before:
/// the memory at the launch; Expected: the recorded outcome. The three views
/// have one size and live during the call only.
struct DifferingChunk {
  size_t Buffer = 0;
  uint64_t Offset = 0;
  std::span<const uint8_t> Before, Expected, Got;
};

/// How well the original reproduces one buffer.
struct Noise {
  uint64_t ChangedBytes = 0; // that differ between replays, or from the record
  double Spread = 0;         // largest difference between two replays
  double Rms = 0;            // of the recorded values of the differing chunks
};

/// The A/A comparison: what N replays of the original do. Use: for each replay
/// beginReplay, addChunk for each chunk that differs from the record,
/// endReplay; then finish once.
class Baseline {
public:
  /// Bytes of chunks whose values are kept for comparison; a recording with
  /// more noise than this is not verifiable.
  static constexpr uint64_t LimitBytes = 1ull << 30;

  /// NextStep: what to do where replays agree, but not with the program.
  explicit Baseline(std::vector<Buffer> Buffers, std::string NextStep = {});

  void beginReplay();
  void addChunk(const DifferingChunk &Chunk);
  void endReplay();
  Judgement finish();

  /// Not verifiable whatever else is added.
  bool decided() const { return Overflow; }
  /// Every replay equals the record, bit for bit.
  bool bitExact() const { return Ranges.empty() && !Overflow; }
  const std::vector<Buffer> &buffers() const { return Buffers; }
  const std::vector<Noise> &noise() const { return Noises; }

private:
  friend class VariantCheck;
  using ChunkKey = std::pair<size_t, uint64_t>;
  /// Smallest and largest value of each element over the replays.
  struct Range {
    std::vector<uint8_t> Low, High, Record;
    bool SeenInReplay = false;
  };
  void widen(Range &R, ValueType Type, std::span<const uint8_t> Values);
  void measure(const ChunkKey &Key, const Range &R);
  Judgement judgeBuffer(size_t Index) const;
  bool recordInRange(size_t Index) const;

  std::vector<Buffer> Buffers;
  std::string NextStep;
  std::vector<Noise> Noises;
  std::map<ChunkKey, Range> Ranges;
  std::map<size_t, Judgement> Exactness; // first difference that must not be
  size_t Replays = 0;
  uint64_t KeptBytes = 0;
  bool Overflow = false;
};

/// Judges one run of a variant: addChunk for each chunk that differs from the
/// record, then verdict.
class VariantCheck {
public:
  /// How far a variant may be from the record, in spreads of the original.
  static constexpr double MostSpreads = 2;
  /// CloseTo: what a user allows besides, of float and double elements:
  /// |got - expected| <= CloseTo + CloseTo * |expected|.
  explicit VariantCheck(const Baseline &Original, double CloseTo = 0)
      : Original(Original), CloseTo(CloseTo) {}
  void addChunk(const DifferingChunk &Chunk);
  /// A wrong element was seen: more chunks cannot change the outcome.
  bool decided() const { return WrongElements; }
  /// Complete: all differing chunks were added.
  Judgement verdict(bool Complete = true) const;

private:
  const Baseline &Original;
  const double CloseTo;
  uint64_t WrongElements = 0;
  std::string First; // the first wrong element, for people
  std::pair<size_t, uint64_t> FirstAt;
};

} // namespace r3::trust
