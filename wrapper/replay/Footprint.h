// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a traced launch read and wrote, to the byte, and what of it may be
// poisoned. Offsets are those in the ranges of a PlanLaunch.
#pragma once

#include "runtime/support/Intervals.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace r3::replay {

struct RangeFootprint {
  IntervalSet Read, Written;
  /// Of Read, what the launch had not written when it read it.
  IntervalSet Inherited;
  /// Words that were read as numbers of this type, and as nothing else. Both
  /// empty where they are too scattered.
  IntervalSet Float, Double;
  /// That some access relied on.
  uint64_t Alignment = 1;
};

/// Accesses of one kind, told by one of them.
struct NotedAccess {
  uint64_t Count = 0; // of all such accesses; the others describe one
  uint64_t Address = 0, Size = 0;
  uint32_t Kind = 0;      // trace::Kind
  uint32_t Alignment = 0; // that it lacks; 0: that is not why
  uint32_t Site = 0;
  uint32_t Block[3] = {}, Thread[3] = {};
};

/// From the bitmap of uses (WordUse of TraceAbi.h) to sets of words.
class WordUses {
public:
  /// Eight words of one kind.
  static constexpr uint32_t Floats = 0x11111111, Doubles = 0x82828282;

  WordUses(IntervalSet &Float, IntervalSet &Double)
      : Float(Float), Double(Double) {}
  /// Pieces of one bitmap in order, from bit Bit on. A single word may stand
  /// for many: Bits in all.
  void add(std::span<const uint32_t> Words, uint64_t Bit, uint64_t Bits);

private:
  void addWord(uint32_t Word, uint64_t Bit);

  IntervalSet &Float, &Double;
  uint64_t Half = UINT64_MAX; // a double's first word
};

struct Footprint {
  std::vector<RangeFootprint> Ranges; // one a plan range; guards are empty
  /// Of all ranges and shared variables, or not aligned; were skipped.
  NotedAccess Outside;
  NotedAccess Unwritten; // reads of shared memory that no thread had written

  uint64_t readBytes() const;
  uint64_t writtenBytes() const;
  void write(ByteWriter &Out) const;
  static Footprint read(ByteReader &In);
};

/// What a variant reads and neither has written nor the original ever reads: it
/// can only hold what earlier launches left, or what the replay itself put
/// there.
struct ForeignRead {
  size_t Range = 0;
  uint64_t Offset = 0; // of the first
  uint64_t Bytes = 0;  // of the range
};
std::optional<ForeignRead> foreignRead(const Footprint &Variant,
                                       const Footprint &Original);

/// What Original writes and Other does not: how much, and the first of it.
struct MissingWrites {
  uint64_t Bytes = 0;
  size_t Range = 0;
  uint64_t Begin = 0;
};
MissingWrites missingWrites(const Footprint &Original, const Footprint &Other);

/// Memory that the original writes and never reads: whatever is in it before a
/// launch must not matter. At most Pieces pieces, the largest ones (each is one
/// fill before a launch). A piece is rows of one width at one pitch: pitched
/// memory and fields of structures are regular.
struct PoisonPiece {
  uint32_t Range = 0;
  uint64_t Begin = 0, Width = 0, Pitch = 0, Rows = 1;
  uint64_t end() const { return Begin + Pitch * (Rows - 1) + Width; }
  uint64_t bytes() const { return Width * Rows; }
};
struct Poison {
  static constexpr size_t Pieces = 4096;
  std::vector<PoisonPiece> List;
  uint64_t Bytes = 0;     // of the list
  uint64_t LeftBytes = 0; // that could be, beyond the limit

  explicit Poison(const Footprint &F);
  Poison() = default;
  std::vector<uint8_t> serialize() const;
  static Expected<Poison> parse(std::span<const uint8_t> Blob);
};

/// The two patterns: no float that occurs, no zero, and not each other's sign.
inline constexpr uint8_t PoisonBytes[] = {0xFF, 0x5B};

} // namespace r3::replay
