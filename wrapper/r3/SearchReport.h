// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `r3 remix` prints at its end: as a table for people, and as JSON.
#pragma once

#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/remix/Search.h"

namespace r3 {

struct SearchReport {
  SearchSummary Summary;
  std::vector<Confirmation> Confirmed; // of the first kernels of Summary
  uint64_t Patience = 0;               // of the search

  /// "interrupted", or the session's.
  std::string state() const;
  void print(Context &Given) const;
  /// With all evaluations of the kernels that Log holds.
  Error printJson(Context &Given, Journal &Log) const;

private:
  std::string nextStep(const Context &Given) const;
  std::string applyStep(const Context &Given) const;
};

} // namespace r3
