// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Little-endian integers are put together byte by byte, so that the code is
// right on any host and needs no alignment; compilers make one access of it.
#include "runtime/support/Bytes.h"

namespace r3 {

template <typename T>
static void append(std::vector<uint8_t> &Buffer, T Value) {
  for (size_t I = 0; I != sizeof(T); ++I)
    Buffer.push_back(uint8_t(Value >> (8 * I)));
}

void ByteWriter::u8(uint8_t Value) { Buffer.push_back(Value); }
void ByteWriter::u32(uint32_t Value) { append(Buffer, Value); }
void ByteWriter::u64(uint64_t Value) { append(Buffer, Value); }

void ByteWriter::digest(const Digest &Value) {
  u64(Value.Low);
  u64(Value.High);
}

void ByteWriter::bytes(std::span<const uint8_t> Value) {
  u64(Value.size());
  raw(Value);
}

void ByteWriter::string(std::string_view Value) {
  bytes({reinterpret_cast<const uint8_t *>(Value.data()), Value.size()});
}

void ByteWriter::raw(std::span<const uint8_t> Value) {
  Buffer.insert(Buffer.end(), Value.begin(), Value.end());
}

ByteReader::ByteReader(std::span<const uint8_t> Bytes, std::string Name)
    : Bytes(Bytes), Name(std::move(Name)) {}

std::span<const uint8_t> ByteReader::raw(size_t Size) {
  if (failed())
    return {};
  if (Size > left()) {
    reject(format("%zu bytes left, %zu needed", left(), Size));
    return {};
  }
  std::span<const uint8_t> Result = Bytes.subspan(Offset, Size);
  Offset += Size;
  return Result;
}

template <typename T> static T combine(std::span<const uint8_t> Bytes) {
  T Value = 0;
  for (size_t I = 0; I != Bytes.size(); ++I)
    Value |= T(Bytes[I]) << (8 * I);
  return Value;
}

uint8_t ByteReader::u8() { return combine<uint8_t>(raw(1)); }
uint32_t ByteReader::u32() { return combine<uint32_t>(raw(4)); }
uint64_t ByteReader::u64() { return combine<uint64_t>(raw(8)); }

Digest ByteReader::digest() {
  Digest Result;
  Result.Low = u64();
  Result.High = u64();
  return Result;
}

std::vector<uint8_t> ByteReader::bytes() {
  std::span<const uint8_t> View = raw(count(1));
  return {View.begin(), View.end()};
}

std::string ByteReader::string() {
  std::span<const uint8_t> View = raw(count(1));
  return {View.begin(), View.end()};
}

size_t ByteReader::count(size_t MinBytes) {
  uint64_t Count = u64();
  if (failed())
    return 0;
  if (Count > left() / (MinBytes ? MinBytes : 1)) {
    reject(format("%llu elements of %zu bytes or more in %zu bytes",
                  (unsigned long long)Count, MinBytes, left()));
    return 0;
  }
  return size_t(Count);
}

void ByteReader::reject(const std::string &Why) {
  if (!failed())
    Failure = fail(ErrorCode::Damaged, "%s: offset %zu: %s", Name.c_str(),
                   Offset, Why.c_str());
}

Error ByteReader::finish() {
  if (!failed() && left())
    reject(format("%zu bytes too many", left()));
  return Failure;
}

} // namespace r3
