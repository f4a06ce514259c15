// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a store holds, put together: the statistics of recorded runs, the
// recordings and the unit descriptors, by kernel. Of each program the latest
// run counts (all of its processes). A damaged file is named and left out.
#pragma once

#include "runtime/support/Recording.h"
#include "runtime/support/RunStats.h"
#include "runtime/support/Store.h"

#include <map>
#include <string>
#include <vector>

namespace r3 {

struct CatalogueRecording {
  std::string Path;
  std::string Id; // contentDigest of the manifest
  Recording Manifest;

  bool isReplayable() const { return Manifest.Reason.empty(); }
};

/// A unit of which the kernel is part, for one architecture.
struct CatalogueUnit {
  std::string Id, Source, ProfileHeader, Arch, Fingerprint;
  std::string Reason, Detail;
};

struct CatalogueKernel {
  std::string Backend; // "cuda" or "cpu"
  std::string Key, Name, Display, Home;
  double TotalNs = 0; // of all launches, estimated
  double Share = 0;   // of all kernels of this backend, 0..1
  uint64_t Launches = 0;
  uint64_t Sampled = 0;
  std::string RunReason; // why the recorder passed launches by, last reason
  uint64_t RunReasonCount = 0;
  std::vector<CatalogueRecording> Recordings;
  std::vector<CatalogueUnit> Units;

  size_t replayable() const;
  uint64_t footprint() const; // of all recordings together
  /// "replayable", or why not, for people.
  std::string state() const;
  /// The reason code behind it; empty where it is replayable.
  std::string reason() const;
};

struct Catalogue {
  /// By share of time, largest first.
  std::vector<CatalogueKernel> Kernels;
  std::vector<std::string> Damaged; // messages
  size_t Runs = 0;

  static Catalogue read(const Store &From);

  /// Kernels of a backend that match one of Patterns (all where there is
  /// none): display or mangled name, the beginning of the key, or part of the
  /// display name. NotFound names the nearest one.
  Expected<std::vector<const CatalogueKernel *>>
  select(const std::string &Backend,
         const std::vector<std::string> &Patterns) const;
  /// The only one; Usage names those that match where there are more.
  Expected<const CatalogueKernel *> selectOne(const std::string &Backend,
                                              const std::string &Pattern) const;
};

/// Statistics files of runs that no longer count, since the same program ran
/// again on the same device.
std::vector<std::string> supersededRuns(const Store &From);

/// Share of the time below which a kernel is cold by default.
inline constexpr double ColdShare = 0.01;

/// The run (name given by r3 record) that the statistics file of a process
/// belongs to, from the file's name without its extension.
std::string runOfProcess(const std::string &Stem);
/// The device of a run's statistics as a backend.
std::string backendOfRun(const RunStats &Run);

} // namespace r3
