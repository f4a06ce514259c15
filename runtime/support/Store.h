// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where everything lies. Root is the nearest ancestor with r3.toml, else the
// folder asked about; the store is $R3_STORE, else ROOT/.r3; the profile is
// ROOT/r3.profile. This class alone knows the names of files in them:
//   .r3/journal.db              evaluations (SQLite)
//   .r3/status.json             what the latest search does (SearchStatus.h)
//   .r3/recordings/KEY/ID.r3rec manifests, KEY = kernel key, ID = digest
//   .r3/packs/*.pack, *.idx     chunks
//   .r3/units/ID.json           unit descriptors
//   .r3/modules/DIGEST.bc       unoptimised device bitcode
//   .r3/images/DIGEST.fatbin    the program's own device code
//   .r3/runs/ID.stats           what a recorded run launched (RunStats.h)
//   .r3/cache/                  derived, may be deleted
//   .r3/tmp/                    half-written files
//   .r3/in-use.lock             held by who uses the store (StoreLock.h)
//   r3.profile/NAME-KEY8/kernel.toml
//   r3.profile/units/SOURCE.h   the header that makes a unit depend on it
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

/// The nearest ancestor of Folder (itself included) with r3.toml.
/// NotFound: the message says what was looked for.
Expected<std::string> findRoot(const std::string &Folder);

class Store {
public:
  /// Opens; creates the folders if Create. An unwritable place is an error
  /// that names it. Any number of processes may have one store open.
  static Expected<Store> open(const std::string &Path, bool Create);
  /// $R3_STORE (given as Override, may be empty), else ROOT/.r3 for Folder.
  static std::string pathFor(const std::string &Folder,
                             const std::string &Override);

  const std::string &path() const { return Path; }
  std::string journalPath() const;
  std::string statusPath() const;
  std::string packDirectory() const;
  std::string lockPath() const;
  std::string runPath(std::string_view RunId) const;
  std::string cachePath(std::string_view Name) const;
  std::string temporaryDirectory() const;
  std::string recordingPath(std::string_view Key, std::string_view Id) const;
  std::string unitPath(std::string_view Id) const;
  std::string modulePath(const Digest &Name) const;
  std::string imagePath(const Digest &Name) const;

  /// Paths of all manifests, sorted; of one kernel where Key is not empty.
  std::vector<std::string> listRecordings(std::string_view Key = {}) const;
  std::vector<std::string> listRuns() const;
  /// Paths of all unit descriptors, sorted.
  std::vector<std::string> listUnits() const;

  /// Writes under another name, fsyncs, renames. Existing content-addressed
  /// files are left as they are.
  Error writeRecording(std::string_view Key, std::string_view Id,
                       std::span<const uint8_t> Bytes) const;
  Error writeUnit(std::string_view Id, std::string_view Json) const;
  Error writeModule(const Digest &Name, std::span<const uint8_t> Bytes) const;
  Error writeImage(const Digest &Name, std::span<const uint8_t> Bytes) const;

private:
  explicit Store(std::string Path) : Path(std::move(Path)) {}
  std::string Path;
};

} // namespace r3
