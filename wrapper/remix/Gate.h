// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gate: what has to hold before a gain is printed or applied. In processes
// of its own, which no variant has run in before:
//   1. one verifies: every check on every recording, those included that the
//      search did not see;
//   2. two or more time: the variant and the original only, in batches, in both
//      cache modes, and the original against itself. Four of them, and ten
//      A/A processes, where the A/A ratios scatter (Gain.h says why).
#pragma once

#include "wrapper/remix/Search.h"
#include "wrapper/trust/Gain.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

/// Of each class with several recordings the last one is held out.
void holdOut(std::vector<SearchRecording> &Recordings);

struct GateOptions {
  CheckSet Checks = gateChecks();
  Accept Which = Accept::Rounding;
  double CloseTo = 0; // a user's own tolerance, in place of that
  bool AllowPrecision = false;
  unsigned Repetitions = 8; // of the original on each recording
  unsigned Batches = 24;    // in each mode, over all processes; 0: not timed
  unsigned Try = 0;         // of this kernel, in the order of its candidates
  uint64_t Seed = 1;
};

/// What the launches of one recording took.
struct RecordingGain {
  size_t Recording = 0;
  CacheMode Mode = CacheMode::Cold; // that decided
  trust::Gain Judged;
  std::optional<double> AtMost;         // upper bound of the median ratio
  double OriginalUs = 0, VariantUs = 0; // medians in that mode
  double FloorUs = 0;                   // in that mode; 0: not known
  std::string FloorBy;                  // what bounds it
  FloorReport Floor;                    // what it follows from
  std::vector<double> AaRatios;         // one a process
  size_t Processes = 0;
  std::vector<std::string> Warnings;
  std::string TooShort; // why there are no times; empty: there are
};

/// What somebody else makes of the original's source, timed like the variant on
/// the recording that takes longest. Ratios: the original's time to its own.
struct Baseline {
  std::string Name;    // "clang -O3", "nvcc -O3" (on CUDA devices)
  std::string Message; // why there are no times; empty: there are
  double Ratio = 0, AtLeast = 0, AtMost = 0; // bounds of 97.5 % each
};

struct GateReport {
  /// Right, and where it was timed: not below resolution.
  Outcome Result = Outcome::Ok;
  std::string Message;
  bool Accepted = false; // right, and faster
  /// Why the evidence is weak; empty: a held-out recording passed, too, and the
  /// source is known.
  std::string Weakness;
  /// Where it is right, the argument classes that it is right in and for: of
  /// what somebody wrote nobody knows more. Nothing: all, since only a compiler
  /// changed the code.
  std::vector<std::string> OnlyClasses;
  /// That the original reproduces and the variant's guards admit.
  std::vector<SearchRecording> Recordings;
  std::vector<std::string> LeftOut; // others, with the reason
  EvaluationReport Original, Variant;
  std::vector<RecordingGain> Gains; // the longest in the program first
  std::vector<Baseline> Baselines;  // of what was accepted
  DeviceIdentity Device;
};

/// Told of each step and of how much is done, 0..1.
using GateProgress = std::function<void(const std::string &Step, double Done)>;

class Gate {
public:
  Gate(EvaluatorSource Source, const GateOptions &Options,
       const std::atomic<bool> &Stop, GateProgress Tell)
      : Source(std::move(Source)), Options(Options), Stop(Stop),
        Tell(std::move(Tell)) {}

  /// Fails where no worker can be used, or Stop was set; a variant that does
  /// not pass is no failure.
  Expected<GateReport> run(const std::vector<SearchRecording> &Recordings,
                           const Variant &Change);

private:
  struct Timed; // what was measured so far of one recording
  Error verify(const std::vector<SearchRecording> &Recordings,
               const Variant &Change);
  void leaveOut(size_t Index);
  Error time(const Variant &Change);
  /// In a new process; Rounds counts from 0.
  Error timeOnce(const Variant &Change, std::vector<Timed> &All, bool AaOnly);
  Expected<bool> measure(Evaluator &W, const Variant &Change, Timed &T,
                         CacheMode Mode);
  Error measureAa(Evaluator &W, Timed &T);
  void chooseTimed(std::vector<Timed> &All) const;
  void judge(const std::vector<Timed> &All);
  /// Each in a new process. What goes wrong there is no error of the variant's.
  Error timeBaselines();
  struct Rival;
  Expected<Baseline> timeBaseline(const Rival &R);
  Error stopped() const;

  EvaluatorSource Source;
  const GateOptions &Options;
  const std::atomic<bool> &Stop;
  GateProgress Tell;
  GateReport Report;
  unsigned Processes = 0;
};

} // namespace r3
