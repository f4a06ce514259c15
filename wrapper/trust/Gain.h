// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When is a variant faster? Its gain is the median over batches of original /
// variant in the mode that decides. It is accepted if
//   1. at least two processes have steady batches, and in each the median
//      ratio is above 1: what differs from process to process (addresses,
//      neighbours) is drawn once in each, and no number of batches averages it
//      out;
//   2. the lower bound of the median (MedianBound.h) is above 1;
//   3. the gain exceeds 1 by more than 1 %, and by more than the 99th
//      percentile of this kernel's A/A ratios;
//   4. the other mode does not lose: its median is no further below 1 than 3.
//      asks of a gain, and it is not proven to be below 1 (upper bound).
// The error of 2. is 0.03 % at a kernel's first try in a gate and half as much
// at each further one, so a kernel's tries have less than 0.06 % together.
//
// An A/A ratio is the median ratio over the batches of one process that has the
// original on both sides: the same quantity as in 1. Which side is called
// variant is arbitrary, so ratio and reciprocal count both. The ratios of
// single batches are not meant: they would ask the more of a kernel the noisier
// its launches are, however many batches show the gain. Up to 49 A/A processes
// the 99th percentile is the largest ratio.
//
// Simulated (launches vary by 0.5 %, 24 batches): an equal variant is accepted
// in less than 0.03 % of the runs while processes differ by a standard
// deviation of up to 0.2 %. Where they differ by 1 %, with 2, 5, 10, 20 A/A
// processes, in
//      2 processes   4.4 %   2.7 %   0.9 %    0.5 %
//      4 processes   0.7 %   0.3 %   0.05 %   0.03 %
// (without any A/A ratio 6.7 % and 1.5 %; by the bound alone 14 % and 4 %), so
// a kernel whose A/A ratios scatter needs four processes and ten A/A ones. A
// gain of 2 % at launches that vary by 1 % is found in 77 % of the runs with 12
// batches and in all with 24; one of 5 % at 3 % in 55 %, 97 %.
#pragma once

#include "wrapper/trust/Timing.h"

namespace r3::trust {

constexpr double FirstTryError = 3e-4;
constexpr double LeastGain = 0.01;
constexpr size_t LeastProcesses = 2;

/// What a kernel's try in a gate may err; Try counts from 0.
double errorOfTry(unsigned Try);

/// Steady batches that a try needs in the mode that decides.
size_t batchesNeeded(unsigned Try);

/// By how much a gain must exceed 1; AaRatios are positive.
double gainNeeded(std::span<const double> AaRatios);

/// What was measured in one mode, on fresh data. SubtractUs: resolve's.
struct Measurement {
  std::span<const Batch> Batches;
  double SubtractUs = 0;
};

struct Gain {
  bool Accepted = false;
  double Ratio = 0;      // median of original / variant; 0: no steady batch
  double AtLeast = 0;    // its lower bound; 0: too few batches
  double OtherRatio = 0; // the median of the other mode; 0: no steady batch
  double Needed = 0;     // 1 + gainNeeded
  double Error = 0;      // of the bound
  size_t Steady = 0, Dropped = 0; // batches of the mode that decides
  std::string Message;            // one line for people, accepted or not
};

/// Judges the variant. Other: null where the kernel is too short to be timed in
/// that mode. Without A/A ratios 1 % is asked.
Gain judgeGain(const Measurement &Deciding, const Measurement *Other,
               std::span<const double> AaRatios, unsigned Try);

} // namespace r3::trust
