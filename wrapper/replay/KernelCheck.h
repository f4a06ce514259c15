// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares a kernel of a patched unit with the recorded one.
#pragma once

#include "runtime/support/Outcome.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct CheckedKernel {
  Outcome Ending = Outcome::Ok;
  std::string Message;
  std::vector<uint8_t> Bitcode; // as the plugin would have embedded it
  /// What it computes less exactly with, in words (Operations.h).
  std::string LessPrecise;
};

/// A unit as clang's front end leaves it.
struct FreshUnit {
  std::span<const uint8_t> Bitcode;
  std::string Source; // from the root
  std::string Level;  // at which it is compiled
};

/// Recorded: the unit's device code in the store. Fresh: the patched unit. Ok:
/// the kernel is there under its name, takes its parameters in the same places,
/// writes no new device variables and is another one; Duplicate: it is the
/// same; Refused: everything else.
CheckedKernel checkKernel(std::span<const uint8_t> Recorded,
                          const FreshUnit &Fresh, const std::string &Kernel);

/// Why the unit on disk is not the recorded one, as far as Kernel is
/// concerned; empty where it is.
std::string changedSince(std::span<const uint8_t> Recorded,
                         const FreshUnit &Fresh, const std::string &Kernel);

} // namespace r3::replay
