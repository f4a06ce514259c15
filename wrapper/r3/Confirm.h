// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a search to evidence: which recordings a search sees and which are held
// out, and the gate for the best that it found.
#pragma once

#include "wrapper/r3/Catalogue.h"
#include "wrapper/remix/Gate.h"
#include "wrapper/remix/Journal.h"

#include <atomic>
#include <optional>
#include <string>
#include <vector>

namespace r3 {

/// The first and the last replayable recording of each of at most four classes;
/// the last ones are held out where there are two.
std::vector<SearchRecording> gateRecordings(const CatalogueKernel &K);
/// Those of them that a search sees.
std::vector<SearchRecording>
searchRecordings(const std::vector<SearchRecording> &All);

/// As a search takes it; without recordings where none can be replayed.
SearchKernel searchKernel(const CatalogueKernel &K);

/// What came of a kernel's candidates.
struct Confirmation {
  std::optional<Evidence> Accepted;
  std::optional<Evaluation> Variant; // that was accepted
  std::string Why;                   // nothing was
  /// What ranked higher and no build can bring about, and why.
  std::string NotApplicable;
};

/// Sends the best variants of a setting through the gate, best first, until one
/// is accepted; what the journal holds evidence of is not tried again.
Expected<Confirmation> confirm(Journal &Log, const std::string &Key,
                               const std::string &Setting,
                               const std::vector<SearchRecording> &Recordings,
                               const EvaluatorSource &Source,
                               const std::atomic<bool> &Stop,
                               const GateProgress &Tell);

/// Sends one variant through the gate, unless the journal holds evidence of it.
Expected<Confirmation>
confirmOne(Journal &Log, const Evaluation &Of,
           const std::vector<SearchRecording> &Recordings,
           const EvaluatorSource &Source, const std::atomic<bool> &Stop,
           const GateProgress &Tell);

} // namespace r3
