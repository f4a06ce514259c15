// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// flock, and a line of text in the locked file.
#include "wrapper/remix/OwnerLock.h"

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include <utility>

namespace r3 {

namespace {

std::string describeOwner(const std::string &Purpose) {
  char Host[256] = "unknown";
  gethostname(Host, sizeof(Host) - 1);
  char When[32] = "";
  std::time_t Now = std::time(nullptr);
  std::tm Local{};
  localtime_r(&Now, &Local);
  std::strftime(When, sizeof(When), "%F %T", &Local);
  return format("pid %d on %s since %s: %s", int(getpid()), Host, When,
                Purpose.c_str());
}

std::string readOwner(int Fd) {
  char Text[512];
  ssize_t Size = pread(Fd, Text, sizeof(Text), 0);
  std::string Owner(Text, Size > 0 ? size_t(Size) : 0);
  return Owner.empty() ? "a process that is just starting" : Owner;
}

} // namespace

Expected<OwnerLock> OwnerLock::take(const std::string &Path,
                                    const std::string &Purpose) {
  int Fd = ::open(Path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (Fd < 0)
    return fail(ErrorCode::CannotRunHere, "%s: cannot be opened: %s",
                Path.c_str(), std::strerror(errno));
  OwnerLock Lock(Fd);
  if (flock(Fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK)
      return fail(ErrorCode::CannotRunHere, "%s: cannot be locked: %s",
                  Path.c_str(), std::strerror(errno));
    return fail(ErrorCode::Failed, "%s: held by %s; wait for it or stop it",
                Path.c_str(), readOwner(Fd).c_str());
  }
  std::string Owner = describeOwner(Purpose);
  // Who holds the lock is a courtesy: a full disk does not take it away.
  if (ftruncate(Fd, 0) == 0 &&
      pwrite(Fd, Owner.data(), Owner.size(), 0) != ssize_t(Owner.size()))
    (void)!ftruncate(Fd, 0);
  return Lock;
}

OwnerLock::OwnerLock(OwnerLock &&Other) noexcept
    : Fd(std::exchange(Other.Fd, -1)) {}

OwnerLock::~OwnerLock() {
  if (Fd < 0)
    return;
  (void)!ftruncate(Fd, 0);
  ::close(Fd);
}

} // namespace r3
