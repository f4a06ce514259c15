// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `r3 remix` says on stderr while it searches.
#pragma once

#include "wrapper/r3/Command.h"
#include "wrapper/remix/Search.h"

namespace r3 {

/// "12 ok  3 wrong".
std::string countsText(const std::map<Outcome, size_t> &Counts);

/// "03:10 of 20:00", or where time does not count, "12 of 40 evaluations".
std::string spentText(const Session &S);

class SearchWatcher : public SearchObserver {
public:
  /// Kernels: of the search.
  SearchWatcher(Context &Given, Progress &Line, size_t Kernels)
      : Given(Given), Line(Line), Kernels(Kernels) {}

  void started(const Session &S, const DeviceIdentity &Device) override;
  void preparing(const SearchKernel &K) override;
  void evaluated(const KernelProgress &P, const Evaluation &E, const Session &S,
                 bool Fresh) override;
  void warn(const std::string &Message) override;

private:
  double doneWith(const KernelProgress &P, const Session &S);

  Context &Given;
  Progress &Line;
  size_t Kernels;
  size_t Finished = 0;
  const SearchKernel *Current = nullptr;
  double Known = 0;
};

} // namespace r3
