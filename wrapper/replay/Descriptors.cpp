// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each message carries one byte and up to 128 descriptors (the kernel's limit
// is 253).
#include "wrapper/replay/Descriptors.h"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

namespace r3::replay {

namespace {

constexpr size_t PerMessage = 128;

union ControlBuffer {
  cmsghdr Alignment;
  char Bytes[CMSG_SPACE(PerMessage * sizeof(int))];
};

Error systemError(const char *What) {
  return fail(ErrorCode::Failed, "%s: %s", What, std::strerror(errno));
}

Error waitReadable(int Socket, int TimeoutMs) {
  pollfd P{Socket, POLLIN, 0};
  int Ready;
  do
    Ready = poll(&P, 1, TimeoutMs);
  while (Ready < 0 && errno == EINTR);
  if (Ready < 0)
    return systemError("poll");
  if (!Ready)
    return fail(ErrorCode::Timeout, "no descriptors within %d ms", TimeoutMs);
  return {};
}

} // namespace

OwnedFd &OwnedFd::operator=(OwnedFd &&Other) noexcept {
  if (this != &Other) {
    reset();
    Fd = Other.release();
  }
  return *this;
}

void OwnedFd::reset() {
  if (Fd >= 0)
    ::close(Fd);
  Fd = -1;
}

Expected<std::pair<OwnedFd, OwnedFd>> socketPair() {
  int Fds[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, Fds) != 0)
    return systemError("socketpair");
  return std::pair{OwnedFd(Fds[0]), OwnedFd(Fds[1])};
}

Expected<OwnedFd> memoryFile(const char *Name, uint64_t Size) {
  OwnedFd Fd(memfd_create(Name, MFD_CLOEXEC));
  if (!Fd)
    return systemError("memfd_create");
  if (ftruncate(Fd.get(), static_cast<off_t>(Size)) != 0)
    return systemError("ftruncate of a file in memory");
  return Fd;
}

Error writeAt(int Fd, std::span<const uint8_t> Bytes, uint64_t Offset) {
  while (!Bytes.empty()) {
    const ssize_t Wrote =
        pwrite(Fd, Bytes.data(), Bytes.size(), static_cast<off_t>(Offset));
    if (Wrote < 0 && errno == EINTR)
      continue;
    if (Wrote <= 0)
      return fail(ErrorCode::NoSpace, "%s", std::strerror(errno));
    Bytes = Bytes.subspan(static_cast<size_t>(Wrote));
    Offset += static_cast<uint64_t>(Wrote);
  }
  return {};
}

Error sendDescriptors(int Socket, std::span<const int> Fds) {
  while (!Fds.empty()) {
    auto Now = Fds.first(std::min(Fds.size(), PerMessage));
    Fds = Fds.subspan(Now.size());
    char Byte = 'D';
    iovec Vector{&Byte, 1};
    ControlBuffer Control{};
    msghdr Message{};
    Message.msg_iov = &Vector;
    Message.msg_iovlen = 1;
    Message.msg_control = Control.Bytes;
    Message.msg_controllen = CMSG_SPACE(Now.size_bytes());
    cmsghdr *Header = CMSG_FIRSTHDR(&Message);
    Header->cmsg_level = SOL_SOCKET;
    Header->cmsg_type = SCM_RIGHTS;
    Header->cmsg_len = CMSG_LEN(Now.size_bytes());
    std::memcpy(CMSG_DATA(Header), Now.data(), Now.size_bytes());
    ssize_t Sent;
    do
      Sent = sendmsg(Socket, &Message, MSG_NOSIGNAL);
    while (Sent < 0 && errno == EINTR);
    if (Sent != 1)
      return systemError("sending descriptors");
  }
  return {};
}

Expected<std::vector<OwnedFd>> receiveDescriptors(int Socket, size_t Count,
                                                  int TimeoutMs) {
  std::vector<OwnedFd> Result;
  while (Result.size() < Count) {
    if (Error E = waitReadable(Socket, TimeoutMs))
      return E;
    char Byte = 0;
    iovec Vector{&Byte, 1};
    ControlBuffer Control{};
    msghdr Message{};
    Message.msg_iov = &Vector;
    Message.msg_iovlen = 1;
    Message.msg_control = Control.Bytes;
    Message.msg_controllen = sizeof(Control.Bytes);
    ssize_t Got;
    do
      Got = recvmsg(Socket, &Message, MSG_CMSG_CLOEXEC);
    while (Got < 0 && errno == EINTR);
    if (Got < 0)
      return systemError("receiving descriptors");
    if (Got == 0)
      return fail(ErrorCode::NotFound, "closed while descriptors were due");
    for (cmsghdr *H = CMSG_FIRSTHDR(&Message); H;
         H = CMSG_NXTHDR(&Message, H)) {
      if (H->cmsg_level != SOL_SOCKET || H->cmsg_type != SCM_RIGHTS)
        continue;
      const size_t Fds = (H->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (size_t I = 0; I < Fds; ++I) {
        int Fd;
        std::memcpy(&Fd, CMSG_DATA(H) + I * sizeof(int), sizeof(int));
        Result.emplace_back(Fd);
      }
    }
    if (Message.msg_flags & MSG_CTRUNC)
      return fail(ErrorCode::Failed, "descriptors were lost on the way (too "
                                     "many open files?)");
  }
  if (Result.size() != Count)
    return fail(ErrorCode::Damaged, "%zu descriptors came, %zu were due",
                Result.size(), Count);
  return Result;
}

} // namespace r3::replay
