// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the digests of a run to values: reads the chunks that differ, from the
// packs and from the device, and gives them to a Baseline or VariantCheck.
#pragma once

#include "wrapper/replay/DeviceLink.h"
#include "wrapper/replay/KernelSet.h"
#include "wrapper/trust/Verdict.h"

#include <functional>

namespace r3::replay {

struct Comparison {
  trust::Judgement Guards; // memory around the recorded allocations
  bool Complete = true;    // all differing chunks were given
};

/// Where an address of a recording is: "arg0, byte 16", or near which
/// allocation.
std::string placeOf(const LoadedRecording &L, uint64_t Address);

/// Records that may come in any order are sorted first, and differ in chunks of
/// the sorted buffer. Add: takes one chunk; false ends the comparison. Errors
/// are those of the child or the packs.
Expected<Comparison>
compareRun(const KernelSet &Kernel, size_t Index, DeviceLink &Device,
           const std::vector<Digest> &Got,
           const std::function<bool(const trust::DifferingChunk &)> &Add);

} // namespace r3::replay
