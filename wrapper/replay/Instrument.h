// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds of a kernel for looking at it: device code in, instrumented device
// code out, which is then compiled like any other.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct Instrumented {
  std::vector<uint8_t> Bitcode;
  std::vector<std::string> Sites, Unseen; // see Trace.h
};

/// The closure of Kernel with the traced build's checks.
Expected<Instrumented> addTraceTo(std::span<const uint8_t> Bitcode,
                                  const std::string &Kernel);

} // namespace r3::replay
