// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Well-formed examples of each format, made by R3's own writers.
#pragma once

#include "unittests/fuzz/Targets.h"

namespace r3::fuzz {

std::vector<Bytes> recordingSeeds();
std::vector<Bytes> unitSeeds();
std::vector<Bytes> unitJsonSeeds();
std::vector<Bytes> elfSeeds();
std::vector<Bytes> packIndexSeeds();
std::vector<Bytes> frameSeeds();
std::vector<Bytes> variantSeeds();
std::vector<Bytes> profileSeeds();
std::vector<Bytes> unitHeaderSeeds();
std::vector<Bytes> expressionSeeds();
std::vector<Bytes> runStatsSeeds();
std::vector<Bytes> planSeeds();
std::vector<Bytes> footprintSeeds();
std::vector<Bytes> plainSeeds();
std::vector<Bytes> poisonSeeds();
std::vector<Bytes> imageSeeds();

} // namespace r3::fuzz
