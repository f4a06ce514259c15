// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes recordings into the store while the program goes on. A record is
// begin, any number of writes, finish; one record is in the making at a time,
// but many may be queued. Each writer thread has a pack of its own: small
// records use one (one fsync), large ones all, so that the disk is written in
// parallel. Either all chunks of a record are synced and then its manifest is
// published, or all are rolled back. After the first write that failed
// nothing more is saved ("broken"): the program is not held up by a full disk.
//
// Writers block all signals, so that SIGXFSZ (a file size limit) becomes an
// error here and never ends the program.
#pragma once

#include "runtime/support/Pack.h"
#include "runtime/support/Store.h"

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

namespace r3::record {

/// A chunk in staging memory.
struct Piece {
  Digest Name;
  const uint8_t *Data = nullptr;
  uint32_t Size = 0;
};

class Saver {
public:
  /// What happens at the end of a record, on a writer thread. Publish writes
  /// the manifest; Failed hears why the record is gone.
  struct Ending {
    std::function<Error()> Publish;
    std::function<void(const Error &)> Failed;
  };

  /// Opens (creates) the store at Path. The chunks that other packs hold are
  /// known from here on.
  static Expected<std::unique_ptr<Saver>> open(const std::string &Path,
                                               unsigned Writers);
  ~Saver();

  const Store &store() const;
  /// Runs Work on a writer thread and waits for it.
  Error runOnWriter(const std::function<Error()> &Work);

  // --- One record; by one thread at a time.

  void begin();
  /// Whether the chunk needs no writing: in the store, or queued earlier.
  bool knows(const Digest &Name) const;
  /// Queues chunks; Done is called when their memory may be used again.
  void write(std::vector<Piece> Pieces, std::function<void()> Done);
  /// Gives the record up: what was queued is rolled back. Failed hears of a
  /// write that failed meanwhile.
  void abandon(std::function<void(const Error &)> Failed = nullptr);
  void finish(Ending End);

  /// Waits until everything that was queued is on disk or given up.
  void drain();
  /// Drains, ends the writers and closes their packs (empty ones go).
  void close();
  bool broken() const;
  /// Bytes queued for packs in this process, those of given-up records left
  /// out.
  uint64_t bytesQueued() const;

private:
  struct State;
  explicit Saver(std::unique_ptr<State> S);
  void end(bool Commit, Ending End);
  std::unique_ptr<State> S;
};

} // namespace r3::record
