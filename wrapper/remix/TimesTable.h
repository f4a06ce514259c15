// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What came of each binary, in a file (SQLite), so that a search can be
// repeated to the letter: times, and with them outcomes that depend on times,
// are measured once and from then on taken from the table. Its rows:
//   times(kernel, setting, binary, outcome, message, registers, shared, spills,
//         original_ns, variant_ns)
// setting: as in the journal, digest of device, tools and recordings. binary:
// digest of the code, with that of the launch where it is not the program's; of
// what has no code the variant's id. A row is added by one statement, so that a
// killed search leaves a whole one or none. One thread.
#pragma once

#include "wrapper/remix/Database.h"
#include "wrapper/remix/Search.h"

namespace r3 {

class TimesTable {
public:
  /// Creates it where it is missing. A file that is something else is an error.
  static Expected<std::shared_ptr<TimesTable>> open(const std::string &Path);

  /// Digests of the code of what is in the table, where it is launched as in
  /// the program.
  Expected<std::vector<std::string>> binaries(const std::string &Kernel,
                                              const std::string &Setting);
  /// What the table says of a variant's binary, or where it says nothing,
  /// Measured, which is added.
  Expected<EvaluationReport> settle(const std::string &Kernel,
                                    const std::string &Setting,
                                    const Variant &Of,
                                    EvaluationReport Measured);

private:
  explicit TimesTable(Database D) : D(std::move(D)) {}
  Database D;
};

/// Evaluators whose reports the table has settled. Binaries that are in it are
/// built and not run. Kernels: all that are loaded; their evaluations have a
/// setting of their own, since what the table says is not of this device's
/// present.
EvaluatorSource recordedTimes(EvaluatorSource Source,
                              std::shared_ptr<TimesTable> Table,
                              const std::vector<SearchKernel> &Kernels);

} // namespace r3
