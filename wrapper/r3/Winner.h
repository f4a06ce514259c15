// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a journal says of a kernel: which variants are worth the gate, and which
// one has passed it, on each device. Only the latest setting counts: others
// were with other tools or recordings.
#pragma once

#include "wrapper/remix/Journal.h"

#include <optional>
#include <string>
#include <vector>

namespace r3 {

/// The lower quartile of the search's ratios that a candidate has to exceed.
inline constexpr double LeastRanked = 1.01;

/// Right variants whose ratios are above the noise, best first.
struct Candidates {
  std::vector<Evaluation> List;
  std::string Why; // there are none
};

/// Of one setting.
Candidates findCandidates(const std::vector<Evaluation> &Made);

struct Winner {
  std::string Key, Name, Device;
  std::optional<Evaluation> Best; // what is to be applied
  Evidence Found;                 // for it
  std::string Why;                // why there is none
};

/// One result for each device on which the kernel was evaluated.
std::vector<Winner> findWinners(const std::vector<Evaluation> &Made,
                                const std::vector<Evidence> &Found);

/// The evaluation of the variant whose id begins with Prefix, however it
/// ended; of a duplicate, which the journal answered, its own. Usage where it
/// is ambiguous.
Expected<Evaluation> matchVariant(const std::vector<Evaluation> &Made,
                                  const std::string &Prefix);
/// The evaluation that ran the binary: another one for a duplicate.
const Evaluation &ranAs(const std::vector<Evaluation> &Made,
                        const Evaluation &One);
/// As matchVariant, of a variant that was right; Wrong where it was not.
Expected<Evaluation> findVariant(const std::vector<Evaluation> &Made,
                                 const std::string &Prefix);

/// The variant that a command is about: Prefix where it is not empty, else what
/// was accepted, else the best that the search found. From the journal at Path.
Expected<Evaluation> chooseVariant(const std::string &Path,
                                   const std::string &Key,
                                   const std::string &Backend,
                                   const std::string &Prefix);

} // namespace r3
