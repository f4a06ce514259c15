// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device child's side of a traced launch: hands memory and bitmaps to the
// traced code before the launch, and reads what was marked after it. The
// bitmaps take half of the recorded memory.
#pragma once

#include "wrapper/replay/Footprint.h"
#include "wrapper/replay/Plan.h"

#include "runtime/device/Device.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace r3::replay {

class Tracer {
public:
  Tracer(Device &D, StreamHandle Stream) : D(D), Stream(Stream) {}
  ~Tracer();
  Tracer(const Tracer &) = delete;

  /// Bases: where each range of L is for Code; nothing for globals that it
  /// does not have. Failed where Code was not built for tracing.
  Error begin(const PlanLaunch &L,
              const std::vector<std::optional<Address>> &Bases,
              DeviceModule &Code);
  Expected<Footprint> end();

private:
  struct Piece {
    size_t Range = 0;
    Address Base = 0;
    uint64_t Size = 0;
    uint64_t Bit = 0;
  };
  Expected<Address> take(uint64_t Size);
  /// Gets words of a bitmap, the number of the first bit, and how many bits
  /// they stand for: more than they have where they repeat.
  using Visitor =
      std::function<Error(std::span<const uint32_t>, uint64_t, uint64_t)>;
  Error visitBits(Address Bitmap, const Piece &P, const Visitor &Visit);
  Error copyBits(Address From, uint64_t Bytes, uint64_t Bit,
                 const Visitor &Visit);
  Error readBits(Address Bitmap, const Piece &P, IntervalSet &Into);
  Error readUses(const Piece &P, RangeFootprint &Into);
  Error readAlignments(Footprint &Into);

  Device &D;
  StreamHandle Stream;
  std::vector<Address> Taken;
  void *Buffer = nullptr; // pinned
  std::vector<Piece> Pieces;
  size_t RangeCount = 0;
  Address State = 0, Table = 0;
  Address ReadBits = 0, WrittenBits = 0, InheritedBits = 0, UseBits = 0;
};

} // namespace r3::replay
