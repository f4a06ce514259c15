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
  uint64_t Bit;        // of its first byte in all bitmaps; a multiple of 32
};

/// InShared: with one of the others, an access to shared memory.
enum Kind : uint32_t { Read = 1, Write = 2, ReadWrite = 3, InShared = 4 };

/// An access that is told of.
struct Report {
  uint64_t Address;
  uint64_t Size;
  uint32_t Kind;
  uint32_t Site; // index of TraceInfo::Sites
  uint32_t Block[3];
  uint32_t Thread[3];
};

/// Answers of __r3_trace_shared about bytes that are not in one variable: in
/// front of all (memory of the system's own), or elsewhere.
inline constexpr uint64_t NotOurs = ~0ull, Nowhere = NotOurs - 1;

struct State {
  uint64_t Ranges; // address of Count Range
  uint64_t Count;
  // Addresses of bitmaps, one bit a byte. InheritedBits: of what was read, that
  // which the launch had not written before.
  uint64_t ReadBits, WrittenBits, InheritedBits;
  // What of its shared memory each of the first SharedBlocks blocks has
  // written: SharedWords words of 32 bits each.
  uint64_t SharedBits;
  uint64_t SharedBlocks, SharedWords;
  uint64_t StaticShared; // bytes; from the build
  /// Accesses that are inside no Range and no shared variable; they were
  /// skipped. First: the first to be counted.
  uint32_t Outside;
  /// Reads of shared memory that its block had not written.
  uint32_t Unwritten;
  Report First, FirstUnwritten;
};

} // namespace r3::trace
