// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little-endian reading and writing of R3's binary formats. ByteReader is the
// only way in which untrusted bytes are read: every access is checked, the
// first failure sticks ("NAME: offset 96: 40 bytes left, 64 needed") and
// later reads give zeros, so a reader checks once at the end of a structure.
#pragma once

#include "runtime/support/Digest.h"
#include "runtime/support/Error.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace r3 {

class ByteWriter {
public:
  void u8(uint8_t Value);
  void u32(uint32_t Value);
  void u64(uint64_t Value);
  void digest(const Digest &Value);
  /// u64 length, then the bytes.
  void bytes(std::span<const uint8_t> Value);
  void string(std::string_view Value);
  /// The bytes alone, without a length.
  void raw(std::span<const uint8_t> Value);

  std::span<const uint8_t> data() const { return Buffer; }
  std::vector<uint8_t> take() { return std::move(Buffer); }

private:
  std::vector<uint8_t> Buffer;
};

class ByteReader {
public:
  /// Name is used in messages. The bytes are not owned.
  ByteReader(std::span<const uint8_t> Bytes, std::string Name);

  uint8_t u8();
  uint32_t u32();
  uint64_t u64();
  Digest digest();
  std::vector<uint8_t> bytes();
  std::string string();
  /// A view of the next Size bytes (empty after a failure).
  std::span<const uint8_t> raw(size_t Size);
  /// A count of elements that need at least MinBytes each; a count that
  /// cannot fit into the rest is a failure (no huge allocation from a forged
  /// number).
  size_t count(size_t MinBytes);

  size_t offset() const { return Offset; }
  size_t left() const { return Bytes.size() - Offset; }
  /// Makes the reader fail with a message of the caller's.
  void reject(const std::string &Why);
  bool failed() const { return static_cast<bool>(Failure); }
  /// The first failure, or one if bytes are left over.
  Error finish();
  Error error() const { return Failure; }

private:
  std::span<const uint8_t> Bytes;
  std::string Name;
  size_t Offset = 0;
  Error Failure;
};

} // namespace r3
