// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Is a float or double buffer of a variant right, within what rounding does
// (RoundingModel.h)? d = variant - mean of the replays. Only chunks that
// differ from the recorded outcome are looked at. Right if
//   1. NaN, +infinity and -infinity stand where they stand in the record;
//   2. these are equal bit for bit: chunks that no replay moved, elements that
//      the original did not change, elements that are a number in some replays
//      only, and zeros and denormal numbers that no replay moved (they may be
//      integers; a zero's sign does not count);
//   3. |d| <= 12 sigma for each element;
//   4. RMS(d / sigma) <= 3: each element counts the same, large or small;
//   5. no bias: |mean of d / s| <= 4 standard errors, s being the sigma that
//      an element's exponent has in common, or at most 4 standard errors more
//      than the original's own (its recorded values are rounded to nearest,
//      the replays at random); of the values, and of their magnitudes
//      (truncation of signed values). A bias below 1/4 sigma is none;
//   6. where an evaluation in double is given: RMS((variant - it) / sigma) is
//      at most twice the original's, 0.29 (what rounding an exact result to
//      nearest leaves, in units of 1 ULP) counting as the least. Elements that
//      it puts more than 12 sigma from the mean do not count: it took another
//      branch there. Nor does the whole evaluation where RMS((it - mean) /
//      sigma) > 1/2: it is no nearer to the exact results than the original is,
//      with float sums that pass through memory or shuffles.
// A user's tolerance takes the place of 3 to 6.
//
// The standard error of 5 is the larger one of two. One is from sums over
// groups of elements, made by the recorded value: elements that are equal have
// equal errors (a field of few values), elements that are not fall together by
// chance, which changes nothing. With fewer than 30 groups there is no verdict.
// The other is what the mean did in the replays: one rounding may shift a whole
// buffer (a common factor).
//
// Measured, with replays whose mean is exact. Honest, rejected:
//   sums of 64 products, reordered, tree, contracted, compensated   0 / 2,400
//   the same, a sequential sum for a tree                           0 / 1,200
//   a stencil, one step and eight, contracted                       1 / 3,200
//   a common divisor, other order or reciprocal, positive terms     0 / 2,400
//   the same, terms that cancel                                     9 / 1,200
//   that reciprocal where the original's divisor is exact         346 / 800
//   float sums whose small terms are lost (inputs over 2^24)        4 / 400
// Less accurate than the original, rejected:
//   there, a sequential sum for a tree                            179 / 200
//   float sums of 1,024, a sequential sum for a tree (7 times the error)
//   there, positive 40 / 40, signed 28 / 40, few digits             0 / 40
// Dishonest, accepted:
//   products through 11 bits                                        0 / 800
//   one of 64 terms left out (2: below the sum's own rounding)      2 / 800
//   each operation truncated, sums of 64                            0 / 600
//   each operation truncated, stencils                              0 / 3,200
//   a common divisor and quotients truncated (below its rounding) 152 / 1,600
//   a compensation dropped, float sums of 1,024                     0 / 60
// With 64 terms only the evaluation in double (6) tells the last one.
// Sums of 64 had 256 elements, float and double, 100 draws each of positive,
// signed and few-digit inputs (dishonest: wide-ranged ones too); sums of 1,024
// had 64 elements, 20 draws; the others 1,024 elements, 300 draws in float and
// 100 in double.
#pragma once

#include "wrapper/trust/RoundingModel.h"

#include <optional>
#include <string>

namespace r3::trust {

/// |variant - record| <= Absolute + Relative * |record|.
struct UserTolerance {
  double Absolute = 0, Relative = 0;
};

/// The mean of differences in sigmas.
struct Bias {
  double Mean = 0, Original = 0, StandardError = 0;
  /// More than rounding explains, and than the original has.
  bool counts() const;
};

/// What was found, whatever the verdict; in sigmas.
struct Deviation {
  uint64_t Elements = 0; // numbers in the chunks that differ
  double Largest = 0;
  double Rms = 0;
  Bias Upward, Outward;          // of the values, of their magnitudes
  uint64_t ElementsInDouble = 0; // 0: there is no evaluation in double
  /// RMS against it.
  double Error = 0, OriginalError = 0;
  /// The evaluation in double against the mean; RMS.
  double Apart = 0;
  /// Whether there is such an evaluation, and it counts.
  bool comparesInDouble() const;
};

/// Judges one run of a variant: addChunk for each chunk of the model's buffer
/// that differs from the record, then verdict.
class ToleranceCheck {
public:
  /// Original has finished; it outlives the check.
  explicit ToleranceCheck(const RoundingModel &Original,
                          std::optional<UserTolerance> User = {});
  /// DoubleValues: empty, or the evaluation in double for each element.
  void addChunk(const DifferingChunk &Chunk,
                std::span<const double> DoubleValues = {});
  /// An element is wrong: more chunks cannot change the outcome.
  bool decided() const { return WrongElements; }
  /// Complete: all chunks that differ were added; else only rules that hold for
  /// single elements are judged.
  Judgement verdict(bool Complete = true) const;

  Deviation deviation() const;
  /// For people, of a variant that is right: which tolerance, how near to it.
  std::string describe() const;

private:
  /// Sums for one Bias.
  struct MeanTest {
    static constexpr unsigned GroupBits = 12;
    struct Group {
      uint64_t Elements = 0;
      double Sum = 0;
    };
    void add(double Expected, double D, double Own);
    Bias bias(uint64_t Elements) const;

    std::vector<Group> Groups = std::vector<Group>(1 << GroupBits);
    std::array<double, RoundingModel::Replays> Replays{};
    double Sum = 0, OriginalSum = 0;
  };
  /// Why the element is wrong, or nothing.
  std::string judgeElement(const DifferingChunk &Chunk, size_t Offset,
                           const RoundingModel::Chunk *Known);
  std::string judgeNumber(const RoundingModel::Element &E, double Expected,
                          double Got);
  void noteWrong(const DifferingChunk &Chunk, size_t Offset,
                 const std::string &Why);
  std::string judgeBuffer() const;

  const RoundingModel &Original;
  std::optional<UserTolerance> User;
  uint64_t Elements = 0, WrongElements = 0;
  double Largest = 0, Squares = 0;
  MeanTest Upward, Outward;
  uint64_t InDouble = 0;
  double ErrorSquares = 0, OriginalErrorSquares = 0, ApartSquares = 0;
  uint64_t FirstAt = 0;
  std::string First;
};

} // namespace r3::trust
