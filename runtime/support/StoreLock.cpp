// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// flock on a file of the store.
#include "runtime/support/StoreLock.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <thread>
#include <unistd.h>
#include <utility>

namespace r3 {

using namespace std::chrono_literals;

/// Removing files takes less.
static constexpr auto LongestWait = 10s;
static constexpr auto Pause = 20ms;

Expected<StoreLock> StoreLock::share(const Store &Of) {
  const std::string Path = Of.lockPath();
  int Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (Fd < 0)
    Fd = ::open(Path.c_str(), O_RDONLY | O_CLOEXEC);
  StoreLock Lock(Fd);
  const auto End = std::chrono::steady_clock::now() + LongestWait;
  while (Fd >= 0 && ::flock(Fd, LOCK_SH | LOCK_NB)) {
    if (errno == EINTR)
      continue;
    if (errno != EWOULDBLOCK)
      break;
    if (std::chrono::steady_clock::now() > End)
      return fail(ErrorCode::Failed,
                  "%s: held by somebody who removes files from the store",
                  Path.c_str());
    std::this_thread::sleep_for(Pause);
  }
  return Lock;
}

Expected<StoreLock> StoreLock::own(const Store &Of) {
  const std::string Path = Of.lockPath();
  const int Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (Fd < 0)
    return fail(ErrorCode::CannotRunHere, "%s: cannot be opened: %s",
                Path.c_str(), std::strerror(errno));
  StoreLock Lock(Fd);
  if (!::flock(Fd, LOCK_EX | LOCK_NB))
    return Lock;
  if (errno != EWOULDBLOCK)
    return fail(ErrorCode::CannotRunHere, "%s: cannot be locked: %s",
                Path.c_str(), std::strerror(errno));
  return fail(ErrorCode::Failed,
              "%s: the store is in use: a program records into it, or its "
              "kernels are replayed",
              Of.path().c_str());
}

StoreLock::StoreLock(StoreLock &&Other) noexcept
    : Fd(std::exchange(Other.Fd, -1)) {}

StoreLock &StoreLock::operator=(StoreLock &&Other) noexcept {
  std::swap(Fd, Other.Fd);
  return *this;
}

StoreLock::~StoreLock() {
  if (Fd >= 0)
    ::close(Fd);
}

} // namespace r3
