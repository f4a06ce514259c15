// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The replay plan: what the device child needs to know about the loaded
// recordings, and no more. It holds what the memory was before the launch,
// never what it was after: expected results stay with the supervisor.
//
// Recordings of one program overlap in memory, so there is one set of windows
// (reserved, 32 MiB on CUDA), one set of segments (mapped memory) and, for
// each recording, a list of ranges that together cover all segments: the
// recorded allocations with their contents, module globals (at the address
// that the loaded code gives them), and guards, the memory in between, which
// holds a pattern. Contents lie once, by digest, in a pool outside.
//
// A chunk of a range is 256 KiB from the range's begin. The digests that the
// child sends are those of all chunks of all ranges in this order.
#pragma once

#include "runtime/support/Bytes.h"
#include "runtime/support/Recording.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace r3::replay {

struct MemoryRange {
  uint64_t Begin = 0;
  uint64_t Size = 0;
  uint64_t end() const { return Begin + Size; }
};

/// Names of the codes that a child has loaded. Checked: the build with bounds
/// checks of the one or the other.
inline constexpr char OriginalSlot[] = "original";
inline constexpr char VariantSlot[] = "variant";
inline constexpr char CheckedSlot[] = "checked";
inline constexpr char TracedSlot[] = "traced";
inline constexpr char TracedVariantSlot[] = "traced-variant";
inline constexpr char CountedSlot[] = "counted";
inline constexpr char CountedVariantSlot[] = "counted-variant";
inline constexpr char RoundedSlot[] = "rounded";
inline constexpr char DoubleSlot[] = "double";
inline constexpr char FrozenSlot[] = "frozen";
inline constexpr char NoOpSlot[] = "no-op";
inline constexpr char RemappedSlot[] = "remapped";
inline constexpr char RemappedVariantSlot[] = "remapped-variant";

/// Exit status of a child that asks for another process with other addresses.
inline constexpr int ConflictStatus = 75;

/// The byte that guards are filled with.
inline constexpr uint8_t GuardByte = 0xA5;
/// Guards begin at multiples of this, so that devices hash whole words; the
/// bytes before are a guard of their own, read through the host.
inline constexpr uint64_t GuardAlignment = 16;

struct PlanRange {
  enum class Kind : uint8_t { Memory, Global, Guard };
  Kind What = Kind::Memory;
  uint64_t Address = 0; // Global: where it was in the program
  uint64_t Size = 0;
  std::string Global;               // name, Kind::Global
  std::vector<Digest> Before;       // one a chunk
  std::vector<uint64_t> PoolOffset; // one a chunk; none for guards

  uint64_t chunks() const { return (Size + ChunkBytes - 1) / ChunkBytes; }
};

struct PlanLaunch {
  std::string Kernel;
  LaunchConfig Config;
  std::vector<uint8_t> Arguments;
  std::vector<SymbolicWord> Symbolic; // Allocation indexes Ranges
  std::vector<PlanRange> Ranges;
};

/// One chunk of the pool and where the load finds it.
struct PoolChunk {
  uint64_t Offset = 0; // in the pool
  uint32_t Size = 0;
  uint32_t File = 0; // descriptor handed over for the load
  uint64_t FileOffset = 0;
};

struct ReplayPlan {
  std::vector<MemoryRange> Windows;
  std::vector<MemoryRange> Segments;
  uint64_t PoolBytes = 0;
  std::vector<PoolChunk> Pool;
  std::vector<PlanLaunch> Launches; // one a recording

  uint64_t segmentBytes() const;
  std::vector<uint8_t> serialize() const;
  static Expected<ReplayPlan> parse(std::span<const uint8_t> Bytes);
};

/// Where the chunks of recordings are found; answered by the supervisor.
class ChunkSource {
public:
  virtual ~ChunkSource() = default;
  /// File (an index of its own) and offset at which the chunk lies raw.
  struct Place {
    uint32_t File = 0;
    uint64_t Offset = 0;
  };
  virtual Expected<Place> find(const Digest &Name, uint32_t Size) = 0;
};

/// Makes the plan of recordings of one kernel. Granularity and Alignment are
/// the device's. Damaged where a manifest contradicts itself (overlapping
/// allocations, chunk counts, symbolic words outside).
Expected<ReplayPlan> makePlan(std::span<const Recording> Recordings,
                              uint64_t Granularity, uint64_t Alignment,
                              ChunkSource &Source);

/// Digests of a range of Size guard bytes, by chunk.
std::vector<Digest> guardDigests(uint64_t Size);

} // namespace r3::replay
