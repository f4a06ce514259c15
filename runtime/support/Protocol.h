// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames between r3, the supervisor, the device child and the compile worker.
//
// A stream starts with a banner that may be preceded by anything (a launcher's
// message of the day): "R3PROTO1" u32 length, then the build id. Then frames:
//   frame := "R3FR" u32 jsonBytes u64 blobBytes u64 id json blob u64 checksum
//   checksum := XXH3-64 of everything before it in the frame
// The JSON header is an object with member "verb": hello, load, prepare,
// evaluate, cancel, unload, bye in a request; "reply" in an answer, which
// carries the request's id, "outcome" or "error", and "ms" by step. An unknown
// verb is answered by {"verb":"reply","error":"unknown verb NAME"}.
// Limits: 16 MiB of JSON, 1 GiB of blob; more is a damaged stream.
#pragma once

#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3 {

struct Frame {
  uint64_t Id = 0;
  std::string Json;
  std::vector<uint8_t> Blob;
};

/// One end of a connection over two descriptors, which it owns. Not
/// thread-safe: one thread writes and one reads at most.
class Channel {
public:
  Channel(int ReadFd, int WriteFd);
  ~Channel();
  Channel(Channel &&Other) noexcept;
  Channel &operator=(Channel &&Other) noexcept;

  /// Sends the banner with our build id.
  Error greet(const std::string &BuildId);
  /// Skips up to 1 MiB until a banner; Stale where the build id differs.
  Error expectGreeting(const std::string &BuildId, int TimeoutMs);

  Error send(const Frame &F);
  /// Waits TimeoutMs for the first byte (-1: for ever) and as long again
  /// between bytes. Timeout, Damaged, or NotFound ("closed") at end of stream.
  Expected<Frame> receive(int TimeoutMs);

  int readFd() const { return ReadFd; }
  int writeFd() const { return WriteFd; }
  void close();

private:
  int ReadFd = -1;
  int WriteFd = -1;
};

/// Encodes a frame, and decodes one from memory (for tests and fuzzers).
std::vector<uint8_t> encodeFrame(const Frame &F);
Expected<Frame> decodeFrame(std::span<const uint8_t> Bytes);

/// Changes with every build that could change the meaning of a message.
std::string buildId();

} // namespace r3
