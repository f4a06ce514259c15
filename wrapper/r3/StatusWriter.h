// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes what a search does into the store's status file, about once a second,
// and passes everything on. A file that cannot be written is warned of once and
// stops nothing.
#pragma once

#include "wrapper/remix/Search.h"
#include "wrapper/remix/SearchStatus.h"

#include <chrono>

namespace r3 {

class StatusWriter : public SearchObserver {
public:
  /// Kernels: of the search. Next: is told everything, too.
  StatusWriter(std::string Path, size_t Kernels, SearchObserver &Next);
  /// A search that fails says why by ended; else it was stopped.
  void ended(const std::string &How);

  void started(const Session &S, const DeviceIdentity &Device) override;
  void preparing(const SearchKernel &K) override;
  void evaluated(const KernelProgress &P, const Evaluation &E, const Session &S,
                 bool Fresh) override;
  void warn(const std::string &Message) override { Next.warn(Message); }
  /// A kernel's best goes through the gate.
  void confirming(const std::string &Kernel);

private:
  using Time = std::chrono::steady_clock::time_point;
  KernelStatus &kernel(const std::string &Name);
  void takeSession(const Session &S);
  void write(bool Always);

  std::string Path;
  SearchObserver &Next;
  SearchStatus Now;
  uint64_t Fresh = 0; // evaluations of this run
  Time Started, Written;
  bool Failed = false;
};

} // namespace r3
