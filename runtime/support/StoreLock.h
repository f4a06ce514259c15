// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps `r3 store gc` away from a store while others use it. Who records into a
// store or replays from it holds the lock shared, who removes files holds it
// alone. The kernel releases it with its holder, however that ends; the file
// stays and means nothing by itself.
#pragma once

#include "runtime/support/Error.h"
#include "runtime/support/Store.h"

namespace r3 {

class StoreLock {
public:
  /// Waits a few seconds for somebody who removes files. Holds nothing where
  /// the store or its file system has no locks: then nobody can remove
  /// anything, either.
  static Expected<StoreLock> share(const Store &Of);
  /// Fails at once where others use the store.
  static Expected<StoreLock> own(const Store &Of);

  StoreLock(StoreLock &&Other) noexcept;
  StoreLock &operator=(StoreLock &&Other) noexcept;
  ~StoreLock();

private:
  explicit StoreLock(int Fd) : Fd(Fd) {}
  int Fd; // -1: nothing is held
};

} // namespace r3
