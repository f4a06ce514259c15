// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds of a kernel for looking at it: device code in, instrumented device
// code out, which is then compiled like any other.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct Instrumented {
  std::vector<uint8_t> Bitcode;
  std::vector<std::string> Sites, Unseen; // see Trace.h
  std::vector<uint64_t> Numbers;
};

/// What optimises the plain build, for those that look at optimised code.
struct PlainPipeline {
  std::string Pipeline, Level; // see Pipeline.h
  std::map<std::string, int64_t> Options = {};
  bool ReplacesLibdevice = false; // what compiles it does, function by function
};

/// The closure of Kernel, instrumented. Build: "trace", "round", ... (the
/// table of plugin/instrument/Builds.cpp); Usage where there is no such build.
/// Threads: of the largest block that it must run in, however many registers
/// it could use; 0: not known.
Expected<Instrumented> instrument(std::span<const uint8_t> Bitcode,
                                  const std::string &Kernel,
                                  const std::string &Build,
                                  uint64_t Threads = 0,
                                  const PlainPipeline &Plain = {"", "O2"});

} // namespace r3::replay
