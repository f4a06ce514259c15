// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches that no program made: recorded ones with other contents of memory,
// other arguments or other addresses. What the original does with them is what
// a variant has to do.
#pragma once

#include "wrapper/replay/DerivedChunks.h"
#include "wrapper/replay/KernelSet.h"
#include "wrapper/trust/Relocate.h"
#include "wrapper/trust/Verdict.h"

#include "runtime/support/Recording.h"
#include "runtime/support/Variant.h"

#include <memory>
#include <string>
#include <vector>

namespace r3::replay {

struct DerivedLaunches {
  std::vector<Recording> List;
  std::vector<size_t> Origins; // which recording each is made from
  std::shared_ptr<DerivedChunks> Chunks;
};

struct DerivedOutcome {
  trust::Judgement Verdict; // of the first launch that is not right
  size_t Made = 0;          // launches on which the variant was judged
  size_t Dropped = 0;
  std::string Why; // the last one was dropped

  /// For people, in brackets behind what was made; empty: none was dropped.
  std::string dropped() const {
    return Dropped ? format("; %zu more dropped (%s)", Dropped, Why.c_str())
                   : "";
  }
};

// Relocated.cpp. Print: of the original; null where it is not known, and then
// all of the memory is looked at, and no access is known to need an alignment.

/// How the allocations of L must be aligned for the original and for V's
/// guards.
std::vector<uint64_t> alignmentsNeeded(const LoadedRecording &L,
                                       const Footprint *Print,
                                       const Variant &V);
/// Whether some bytes that are read, and not as numbers, hold an address of
/// what To moves.
Expected<bool> holdsAddress(const KernelSet &Kernel, const LoadedRecording &L,
                            const Footprint *Print,
                            const trust::Relocation &To);

} // namespace r3::replay
