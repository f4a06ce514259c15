// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The units and kernels of the program. Attaching is cheap and may happen with
// the loader's lock held; descriptors are read from the ELF files only when
// they are needed, once a file. Kernels are looked up by the handle that the
// program launches; where two units bring the same handle, the first attached
// wins, as in the CUDA runtime. What is handed out lives as long as this.
#pragma once

#include "runtime/record/ImageAbi.h"
#include "runtime/support/Unit.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace r3::record {

struct KernelState; // Kernel.h

/// A unit whose descriptor was read.
struct LoadedUnit {
  const R3UnitTable *Table = nullptr;
  std::shared_ptr<const r3::Unit> Unit; // never null

  /// The module for a device of architecture Arch: the same, else the newest
  /// that is not newer; the first where Arch is not a GPU's. Null: no code.
  const UnitModule *moduleFor(const std::string &Arch) const;
  /// The host's shadow variable of a global; null where it has none.
  const void *hostOf(const std::string &Global) const;
  /// The image's device code ("fatbinary") that the table names.
  std::span<const uint8_t> fatbin() const;
};

class Units {
public:
  using FileOf = std::string (*)(const void *Address);
  /// Where the file of an address comes from; tests give their own.
  explicit Units(FileOf Finder = nullptr);
  ~Units();

  void attach(R3UnitTable *Table);
  void detach(R3UnitTable *Table);

  /// The kernel that is launched by Handle; null where R3 does not know it.
  KernelState *find(const void *Handle) const;
  /// The unit with its descriptor, read at the first call. An error where the
  /// file has no such unit (stripped) or is damaged; the same at each call.
  Expected<LoadedUnit *> load(const R3UnitTable *Table);
  /// Tables attached and not detached.
  std::vector<R3UnitTable *> attached() const;
  /// Counts attach and detach.
  uint64_t changes() const { return Changes.load(); }

private:
  struct FileUnits {
    Error Failure;
    std::map<std::string, std::shared_ptr<const r3::Unit>> ById;
  };
  FileUnits &unitsOf(const std::string &Path);

  FileOf Finder;
  std::atomic<uint64_t> Changes{0};
  mutable std::shared_mutex Lock;
  std::vector<std::unique_ptr<KernelState>> States;
  std::unordered_map<const void *, KernelState *> Kernels;
  std::vector<R3UnitTable *> Tables;
  std::mutex LoadLock;
  std::map<std::string, FileUnits> Files;
  std::vector<std::unique_ptr<LoadedUnit>> Read;
  std::map<const R3UnitTable *, Expected<LoadedUnit *>> Loaded;
};

/// Size of the fatbinary at Data from its header; 0 where it is none.
uint64_t fatbinSize(const void *Data);

} // namespace r3::record
