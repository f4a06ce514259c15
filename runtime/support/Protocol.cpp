// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames over descriptors. The sizes in a header are believed only as far as
// bytes arrive: memory grows with them.
#include "runtime/support/Protocol.h"

#include "runtime/support/Bytes.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace r3 {

static constexpr char BannerMagic[] = "R3PROTO1";
static constexpr char FrameMagic[] = "R3FR";
static constexpr size_t HeaderBytes = 4 + 4 + 8 + 8;
static constexpr uint64_t JsonLimit = 16u << 20;
static constexpr uint64_t BlobLimit = 1u << 30;
static constexpr size_t SkipLimit = 1u << 20;
static constexpr uint32_t BuildIdLimit = 256;

#ifndef R3_BUILD_ID
#error "R3_BUILD_ID is set in runtime/support/CMakeLists.txt"
#endif
std::string buildId() { return R3_BUILD_ID; }

static std::span<const uint8_t> view(std::string_view Text) {
  return {reinterpret_cast<const uint8_t *>(Text.data()), Text.size()};
}

//===-- Frames in memory --------------------------------------------------===//

std::vector<uint8_t> encodeFrame(const Frame &F) {
  ByteWriter Writer;
  Writer.raw(view({FrameMagic, 4}));
  Writer.u32(uint32_t(F.Json.size()));
  Writer.u64(F.Blob.size());
  Writer.u64(F.Id);
  Writer.raw(view(F.Json));
  Writer.raw(F.Blob);
  Writer.u64(checksum(Writer.data()));
  return Writer.take();
}

namespace {
struct FrameHeader {
  uint64_t JsonBytes = 0, BlobBytes = 0, Id = 0;
};
} // namespace

static FrameHeader readHeader(ByteReader &Reader) {
  FrameHeader Header;
  std::span<const uint8_t> Magic = Reader.raw(4);
  if (!Reader.failed() && std::memcmp(Magic.data(), FrameMagic, 4))
    Reader.reject("not a frame");
  Header.JsonBytes = Reader.u32();
  Header.BlobBytes = Reader.u64();
  Header.Id = Reader.u64();
  if (Header.JsonBytes > JsonLimit)
    Reader.reject(format("%llu bytes of JSON, over the limit",
                         (unsigned long long)Header.JsonBytes));
  if (Header.BlobBytes > BlobLimit)
    Reader.reject(format("%llu bytes of blob, over the limit",
                         (unsigned long long)Header.BlobBytes));
  return Header;
}

Expected<Frame> decodeFrame(std::span<const uint8_t> Bytes) {
  ByteReader Reader(Bytes, "frame");
  FrameHeader Header = readHeader(Reader);
  std::span<const uint8_t> Json = Reader.raw(Header.JsonBytes);
  std::span<const uint8_t> Blob = Reader.raw(Header.BlobBytes);
  size_t Covered = Reader.offset();
  uint64_t Sum = Reader.u64();
  if (!Reader.failed() && Sum != checksum(Bytes.first(Covered)))
    Reader.reject("checksum differs");
  if (Error E = Reader.finish())
    return E;
  Frame F;
  F.Id = Header.Id;
  F.Json.assign(Json.begin(), Json.end());
  F.Blob.assign(Blob.begin(), Blob.end());
  return F;
}

//===-- Channel -----------------------------------------------------------===//

Channel::Channel(int ReadFd, int WriteFd) : ReadFd(ReadFd), WriteFd(WriteFd) {}
Channel::~Channel() { close(); }

Channel::Channel(Channel &&Other) noexcept
    : ReadFd(std::exchange(Other.ReadFd, -1)),
      WriteFd(std::exchange(Other.WriteFd, -1)) {}

Channel &Channel::operator=(Channel &&Other) noexcept {
  if (this != &Other) {
    close();
    ReadFd = std::exchange(Other.ReadFd, -1);
    WriteFd = std::exchange(Other.WriteFd, -1);
  }
  return *this;
}

void Channel::close() {
  if (ReadFd >= 0)
    ::close(ReadFd);
  if (WriteFd >= 0 && WriteFd != ReadFd)
    ::close(WriteFd);
  ReadFd = WriteFd = -1;
}

namespace {
/// Keeps SIGPIPE from the process while this thread writes: the partner may
/// have died, and that is an error to report and no reason to die.
class PipeSignalGuard {
public:
  PipeSignalGuard() {
    ::sigemptyset(&Pipe);
    ::sigaddset(&Pipe, SIGPIPE);
    sigset_t Pending;
    ::sigpending(&Pending);
    WasPending = ::sigismember(&Pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &Pipe, &Before);
  }
  ~PipeSignalGuard() {
    int Number = errno;
    struct timespec Now = {0, 0};
    if (!WasPending)
      while (::sigtimedwait(&Pipe, nullptr, &Now) < 0 && errno == EINTR)
        ;
    ::pthread_sigmask(SIG_SETMASK, &Before, nullptr);
    errno = Number;
  }

private:
  sigset_t Pipe, Before;
  bool WasPending = false;
};
} // namespace

static Error writeBytes(int Fd, std::span<const uint8_t> Bytes) {
  PipeSignalGuard Guard;
  while (!Bytes.empty()) {
    ssize_t Put = ::write(Fd, Bytes.data(), Bytes.size());
    if (Put < 0 && errno == EINTR)
      continue;
    if (Put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      struct pollfd Poll = {Fd, POLLOUT, 0};
      (void)::poll(&Poll, 1, -1);
      continue;
    }
    if (Put < 0 && errno == EPIPE)
      return Error(ErrorCode::NotFound, "the other end is closed");
    if (Put < 0)
      return fail(ErrorCode::Failed, "cannot send: %s", std::strerror(errno));
    Bytes = Bytes.subspan(size_t(Put));
  }
  return Error::success();
}

/// Reads exactly Size bytes, waiting TimeoutMs for each part. AtStart: the end
/// of the stream before the first byte is a clean close.
static Error readBytes(int Fd, std::vector<uint8_t> &Into, size_t Size,
                       int TimeoutMs, bool AtStart) {
  constexpr size_t Step = 1u << 20;
  size_t Begin = Into.size();
  for (size_t Got = 0; Got != Size;) {
    struct pollfd Poll = {Fd, POLLIN, 0};
    int Ready = ::poll(&Poll, 1, TimeoutMs);
    if (Ready < 0 && errno == EINTR)
      continue;
    if (Ready < 0)
      return fail(ErrorCode::Failed, "cannot wait: %s", std::strerror(errno));
    if (Ready == 0)
      return fail(ErrorCode::Timeout, "nothing came for %d ms", TimeoutMs);
    size_t Want = std::min(Size - Got, Step);
    Into.resize(Begin + Got + Want);
    ssize_t Count = ::read(Fd, Into.data() + Begin + Got, Want);
    Into.resize(Begin + Got + size_t(std::max<ssize_t>(Count, 0)));
    if (Count < 0 && (errno == EINTR || errno == EAGAIN))
      continue;
    if (Count < 0)
      return fail(ErrorCode::Failed, "cannot receive: %s",
                  std::strerror(errno));
    if (Count == 0 && AtStart && Got == 0)
      return Error(ErrorCode::NotFound, "closed");
    if (Count == 0)
      return fail(ErrorCode::Damaged,
                  "closed within a message: %zu bytes of "
                  "%zu came",
                  Got, Size);
    Got += size_t(Count);
  }
  return Error::success();
}

Error Channel::greet(const std::string &BuildId) {
  ByteWriter Writer;
  Writer.raw(view({BannerMagic, 8}));
  Writer.u32(uint32_t(BuildId.size()));
  Writer.raw(view(BuildId));
  return writeBytes(WriteFd, Writer.data());
}

/// How many characters at the end of Window may begin Magic.
static size_t matchedAtEnd(std::string_view Window, std::string_view Magic) {
  size_t Count = std::min(Window.size(), Magic.size());
  while (!Window.ends_with(Magic.substr(0, Count)))
    --Count;
  return Count;
}

Error Channel::expectGreeting(const std::string &BuildId, int TimeoutMs) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point End = Clock::now() + std::chrono::milliseconds(TimeoutMs);
  // No byte beyond the banner is taken: that belongs to the first frame.
  const std::string_view Magic(BannerMagic, 8);
  size_t Matched = 0;
  for (size_t Skipped = 0; Matched != Magic.size();) {
    if (Skipped > SkipLimit)
      return fail(ErrorCode::Damaged, "no greeting in the first %zu bytes",
                  SkipLimit);
    auto Left = std::chrono::duration_cast<std::chrono::milliseconds>(
        End - Clock::now());
    int WaitMs = TimeoutMs < 0 ? -1 : int(std::max<int64_t>(0, Left.count()));
    std::vector<uint8_t> Part;
    size_t Need = Magic.size() - Matched;
    Error E = readBytes(ReadFd, Part, Need, WaitMs, /*AtStart=*/true);
    if (E.code() == ErrorCode::Damaged) // ended within a message of the day
      return Error(ErrorCode::NotFound, "greeting: closed");
    if (E)
      return E.in("greeting");
    Skipped += Need;
    std::string Window(Magic.substr(0, Matched));
    Window.append(Part.begin(), Part.end());
    Matched = matchedAtEnd(Window, Magic);
  }
  std::vector<uint8_t> Bytes;
  if (Error E = readBytes(ReadFd, Bytes, 4, TimeoutMs, /*AtStart=*/false))
    return E.in("greeting");
  uint32_t Length = ByteReader(Bytes, "greeting").u32();
  if (Length > BuildIdLimit)
    return fail(ErrorCode::Damaged, "greeting: a build id of %u bytes", Length);
  Bytes.clear();
  if (Error E = readBytes(ReadFd, Bytes, Length, TimeoutMs, /*AtStart=*/false))
    return E.in("greeting");
  std::string Theirs(Bytes.begin(), Bytes.end());
  if (Theirs != BuildId)
    return fail(ErrorCode::Stale,
                "the other end is build '%s' of r3, this is '%s'",
                Theirs.c_str(), BuildId.c_str());
  return Error::success();
}

Error Channel::send(const Frame &F) {
  if (F.Json.size() > JsonLimit || F.Blob.size() > BlobLimit)
    return fail(
        ErrorCode::Usage,
        "a frame of %zu bytes of JSON and %zu of blob is over the limit",
        F.Json.size(), F.Blob.size());
  return writeBytes(WriteFd, encodeFrame(F));
}

Expected<Frame> Channel::receive(int TimeoutMs) {
  std::vector<uint8_t> Bytes;
  if (Error E = readBytes(ReadFd, Bytes, HeaderBytes, TimeoutMs,
                          /*AtStart=*/true))
    return E;
  ByteReader Reader(Bytes, "frame");
  FrameHeader Header = readHeader(Reader);
  if (Reader.failed())
    return Reader.error();
  size_t Rest = Header.JsonBytes + Header.BlobBytes + 8;
  if (Error E = readBytes(ReadFd, Bytes, Rest, TimeoutMs, /*AtStart=*/false))
    return E;
  return decodeFrame(Bytes);
}

} // namespace r3
