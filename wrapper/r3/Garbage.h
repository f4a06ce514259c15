// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of a store that nothing refers to. Manifests, the journal and the
// latest run of each program are where references begin; from there go
//   manifest -> chunks in packs, module, image, unit descriptor
//   unit descriptor -> modules; it stays while a manifest, the journal or a
//     run that counts knows one of its kernels
// Of a chunk that is in several packs the one counts that readers take.
// Temporary files belong to nobody once their writer is gone, and what is
// derived is made again where it is missing.
#pragma once

#include "runtime/support/Store.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace r3 {

struct GarbageFile {
  const char *Kind; // "packs", "modules", ...
  std::string Path;
  uint64_t Bytes = 0;
};

struct Garbage {
  /// In the order in which they may be removed one by one: whatever ends it in
  /// between leaves a store in which everything else is whole.
  std::vector<GarbageFile> Files;
  uint64_t StoreBytes = 0; // all files, those included
  /// Of chunks that nothing refers to, in packs that others keep.
  uint64_t HeldBytes = 0;

  uint64_t bytes() const;
};

/// Files last written after Since (unix seconds) are left alone. Fails where a
/// manifest or the journal cannot be read: what they refer to is not known.
Expected<Garbage> findGarbage(const Store &From, int64_t Since);

/// Until Stop is set. Removed is told of each file that is gone. Needs the
/// store's lock.
Error removeGarbage(const Garbage &What, const std::atomic<bool> &Stop,
                    const std::function<void(const GarbageFile &)> &Removed);

} // namespace r3
