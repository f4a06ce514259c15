// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Open descriptors between the supervisor and the device child, over a Unix
// stream socket (SCM_RIGHTS).
#pragma once

#include "runtime/support/Error.h"

#include <span>
#include <utility>
#include <vector>

namespace r3::replay {

/// A descriptor that closes itself.
class OwnedFd {
public:
  OwnedFd() = default;
  explicit OwnedFd(int Fd) : Fd(Fd) {}
  OwnedFd(OwnedFd &&Other) noexcept : Fd(std::exchange(Other.Fd, -1)) {}
  OwnedFd &operator=(OwnedFd &&Other) noexcept;
  ~OwnedFd() { reset(); }

  int get() const { return Fd; }
  int release() { return std::exchange(Fd, -1); }
  void reset();
  explicit operator bool() const { return Fd >= 0; }

private:
  int Fd = -1;
};

/// Two connected stream sockets, close-on-exec.
Expected<std::pair<OwnedFd, OwnedFd>> socketPair();
/// An anonymous file in memory, close-on-exec.
Expected<OwnedFd> memoryFile(const char *Name, uint64_t Size);
/// Writes all of Bytes at Offset; NoSpace where that fails.
Error writeAt(int Fd, std::span<const uint8_t> Bytes, uint64_t Offset);

/// Sends all of Fds; the caller keeps its own.
Error sendDescriptors(int Socket, std::span<const int> Fds);
/// Receives exactly Count, close-on-exec; waits TimeoutMs for each message.
Expected<std::vector<OwnedFd>> receiveDescriptors(int Socket, size_t Count,
                                                  int TimeoutMs);

} // namespace r3::replay
