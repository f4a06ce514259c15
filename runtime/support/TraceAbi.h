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
  uint32_t Alignment;  // the largest that an access needed, as a logarithm
  uint32_t Padding;
};

/// With one of the first three: InShared, an access to shared memory;
/// InConstant, to a variable of the module in constant memory.
enum Kind : uint32_t {
  Read = 1,
  Write = 2,
  ReadWrite = 3,
  InShared = 4,
  InConstant = 8
};

/// What a read value is used as. Copied: it goes to other memory, which tells
/// nothing.
enum class Use : uint32_t { Other, Float, Double, Copied };

/// An access as one number: Kind in bits 0 to 3, Use in 4 to 7, the logarithm
/// of the alignment that the code relies on from 8 on.
constexpr uint32_t describe(uint32_t Kind, Use Value, uint32_t Alignment) {
  return Kind | uint32_t(Value) << 4 | Alignment << 8;
}
constexpr uint32_t kindOf(uint32_t Access) { return Access & 15; }
constexpr Use useOf(uint32_t Access) { return Use(Access >> 4 & 15); }
constexpr uint32_t alignmentOf(uint32_t Access) { return Access >> 8; }

/// The bitmap of uses: four bits a word of four bytes (from its range's begin).
enum WordUse : uint32_t {
  AsFloat = 1,
  AsDouble = 2, // its first word
  AsOther = 4,
  AsRestOfDouble = 8,
};

/// An access that is told of.
struct Report {
  uint64_t Address;
  uint64_t Size;
  uint32_t Kind;
  uint32_t Alignment; // that it lacks; 0: that is not why
  uint32_t Site;      // index of TraceInfo::Sites
  uint32_t Padding;
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
  // which the launch had not written before. UseBits: see WordUse.
  uint64_t ReadBits, WrittenBits, InheritedBits, UseBits;
  // What of its shared memory each of the first SharedBlocks blocks has
  // written: SharedWords words of 32 bits each.
  uint64_t SharedBits;
  uint64_t SharedBlocks, SharedWords;
  uint64_t StaticShared; // bytes; from the build
  /// Accesses that are inside no Range and no shared variable, or not aligned
  /// as the code relies on; they were skipped. First: the first to be counted.
  uint32_t Outside;
  /// Reads of shared memory that its block had not written.
  uint32_t Unwritten;
  Report First, FirstUnwritten;
};

} // namespace r3::trace
