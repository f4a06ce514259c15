// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An exclusive lock on a file that says who holds it. The kernel releases it
// when its holder dies, however it dies; the file stays and means nothing
// without the lock.
#pragma once

#include "runtime/support/Error.h"

#include <string>

namespace r3 {

class OwnerLock {
public:
  /// Takes the lock, or fails at once with what its holder wrote
  /// ("pid 41 on build2 since 14:02:11: r3 remix").
  static Expected<OwnerLock> take(const std::string &Path,
                                  const std::string &Purpose);
  OwnerLock(OwnerLock &&Other) noexcept;
  OwnerLock &operator=(OwnerLock &&) = delete;
  ~OwnerLock();

private:
  explicit OwnerLock(int Fd) : Fd(Fd) {}
  int Fd;
};

} // namespace r3
