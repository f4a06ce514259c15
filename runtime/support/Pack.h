// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs hold the chunks of recordings, each once, by digest. One writer owns
// one pair of files; any number of pairs are read together, so that several
// programs can record into one store without locks.
//
// NAME.pack := "R3PACK\0\0" u32 version(1) u32 0  chunk bytes...
// NAME.idx  := "R3INDEX\0" u32 version(1) u32 0  entry...
// entry     := digest  u64 offset  u32 stored  u32 size  u8 codec(0 raw,
//              1 zstd)  u8[7] zero  u64 XXH3-64 of the 40 bytes before
// A torn entry at the end of an index (a killed writer) ends the list; chunks
// beyond are unreachable and harmless.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace r3 {

/// Appends chunks. One thread at a time.
class PackWriter {
public:
  /// Creates NAME.pack and NAME.idx in Directory (name: pid and random).
  static Expected<std::unique_ptr<PackWriter>>
  create(const std::string &Directory);
  ~PackWriter();

  bool contains(const Digest &Name) const;
  /// Appends, unless it is there. NoSpace where the disk is full.
  Error add(const Digest &Name, std::span<const uint8_t> Bytes);
  /// Makes all that was added durable: pack first, then index.
  Error sync();
  /// Drops what was added after the last sync (a record given up).
  Error rollback();
  /// Bytes in the pack file.
  uint64_t size() const;

private:
  struct State;
  explicit PackWriter(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

/// Where a chunk lies; File indexes PackSet::files().
struct ChunkLocation {
  uint32_t File = 0;
  uint64_t Offset = 0;
  uint32_t Stored = 0;
  uint32_t Size = 0;
  uint8_t Codec = 0;
};

/// The entries of an index file up to the first torn one. Damaged where it is
/// no index, or a whole entry cannot be right.
Expected<std::vector<std::pair<Digest, ChunkLocation>>>
parsePackIndex(std::span<const uint8_t> Bytes, const std::string &Name);

/// All packs of a directory, read-only. Any number of threads.
class PackSet {
public:
  static Expected<std::unique_ptr<PackSet>> open(const std::string &Directory);
  ~PackSet();

  bool contains(const Digest &Name) const;
  /// NotFound where no index names it.
  Expected<ChunkLocation> find(const Digest &Name) const;
  /// Reads and checks the digest (Damaged where it differs).
  Expected<std::vector<uint8_t>> read(const Digest &Name) const;
  /// Paths of the .pack files, in the order of ChunkLocation::File.
  const std::vector<std::string> &files() const;

private:
  struct State;
  explicit PackSet(std::unique_ptr<State> S);
  std::unique_ptr<State> S;
};

} // namespace r3
