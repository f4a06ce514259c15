// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the evaluation of one variant has come to so far.
#pragma once

#include "wrapper/replay/Session.h"

#include "runtime/support/Check.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace r3::replay {

struct Session::Evaluation {
  Variant Change;
  std::vector<size_t> Recordings; // in which the guards hold
  std::vector<size_t> Excluded;   // in which they do not
  std::string Guards;             // which do not hold; empty: they do
  /// With a launch map: how it is launched, one a loaded recording.
  std::vector<LaunchConfig> Launches;
  CheckSet Wanted;
  uint64_t Seed = 0;
  bool MayRound = false; // what rounding explains is right
  double CloseTo = 0;    // what a user allows, in place of that
  bool AllowPrecision = false;
  bool WantsFloors = false;
  bool Once = false;                 // a binary that is known is not run
  std::optional<uint64_t> PassLimit; // of the plain build
  Build B;
  std::optional<trust::Ptx> Ptx; // that is assembled, once it was asked for
  std::optional<Build> Checked;  // with bounds checks, where there is one yet
  trust::Judgement Verdict;
  std::vector<CheckResult> Checks; // made so far
  double Beat = 0;     // a gain; timing may end where it is out of reach
  unsigned Rounds = 0; // of pairs that were timed
  std::vector<double> OriginalNs, VariantNs;
  std::string Tolerance; // that was needed; empty: bit for bit
  std::string Unordered; // KernelSet::unorderedText
  /// Results that were right, by recording: most launches of a variant give
  /// the same, and judging values takes longer than a launch.
  std::set<std::pair<size_t, Digest>> Accepted;
  std::vector<FloorReport> Floors; // one a recording
  std::map<std::string, double> Ms;
  std::vector<Digest> Left; // what the last launch left, when it was right

  bool wants(Check What) const { return Wanted.count(What); }
  std::string leniency() const {
    return Unordered.empty() || Tolerance.empty()
               ? Unordered + Tolerance
               : Unordered + "; " + Tolerance;
  }
  std::string json() const;
};

} // namespace r3::replay
