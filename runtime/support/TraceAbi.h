// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a traced kernel and the process that launches it share: a structure in
// the module's global TraceState, written before the launch and read after it.
// Device code includes this file, too.
#pragma once

#include <stdint.h>

namespace r3::trace {

/// Name of the global that holds a State.
inline constexpr char TraceState[] = "__r3_trace_state";

/// Recorded memory, sorted by address, without overlap.
struct Range {
  uint64_t Begin, End; // device addresses
  uint64_t Bit;        // of its first byte in both bitmaps; a multiple of 32
};

enum Kind : uint32_t { Read = 1, Write = 2, ReadWrite = 3 };

/// An access that is not inside one Range; it was skipped.
struct Report {
  uint64_t Address;
  uint64_t Size;
  uint32_t Kind;
  uint32_t Site; // index of TraceInfo::Sites
  uint32_t Block[3];
  uint32_t Thread[3];
};

struct State {
  uint64_t Ranges; // address of Count Range
  uint64_t Count;
  uint64_t ReadBits, WrittenBits; // addresses of bitmaps, one bit a byte
  uint32_t Outside;               // accesses that were skipped
  uint32_t Padding;
  Report First; // one of them: the first to be counted
};

} // namespace r3::trace
