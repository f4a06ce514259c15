// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which variant of a kernel a journal speaks for, on each device, and why none
// where there is none. Only evaluations of the latest setting count: older
// ones were made with other tools or recordings.
#pragma once

#include "wrapper/remix/Journal.h"

#include <optional>
#include <string>
#include <vector>

namespace r3 {

struct Winner {
  std::string Key, Name, Device;
  std::optional<Evaluation> Best; // what is to be applied
  std::string Why;                // why there is none
};

/// The lower quartile of the ratios that a gain has to exceed.
inline constexpr double LeastGain = 1.01;

/// One result for each device on which the kernel was evaluated.
std::vector<Winner> findWinners(const std::vector<Evaluation> &Made);

/// The evaluation of the variant whose id begins with Prefix; it must have
/// been right. Usage where it is ambiguous, Wrong where it was not right.
Expected<Evaluation> findVariant(const std::vector<Evaluation> &Made,
                                 const std::string &Prefix);

} // namespace r3
