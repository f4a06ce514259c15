// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a gate found, as the JSON that the journal keeps (evidence.detail) and
// that commands print:
//   {outcome, message, accepted, level: "strong" | "weak" | "rejected",
//    weakness, onlyClasses: [argument class; none: it holds in all],
//    device, tools, tolerance,
//    recordings: [{id, class, held, programUs}], leftOut: [text],
//    checks: [{check, made, outcome, message, milliseconds}],
//    milliseconds: {step: number},
//    original, variant: {code, registers, shared, spills},
//    times: [{recording, mode, accepted, message, ratio, atLeast, atMost,
//             otherRatio, needed, error, steady, dropped, processes,
//             originalUs, variantUs, floorUs, floorBy, readBytes,
//             writtenBytes, floatOperations, doubleOperations,
//             halfOperations, uncounted, aa: [ratio], warnings: [text]}],
//    baselines: [{name, message, ratio, atLeast, atMost}]}
#pragma once

#include "wrapper/remix/Gate.h"
#include "wrapper/remix/Journal.h"

#include <string>
#include <vector>

namespace r3 {

/// "strong", "weak" or, where it was not accepted, "rejected".
std::string evidenceLevel(const GateReport &Found);

std::string evidenceJson(const GateReport &Found);

/// What a reader of the gain should know: its times' warnings, each once.
std::vector<std::string> evidenceWarnings(const Evidence &Of);

} // namespace r3
