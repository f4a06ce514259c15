// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Floor.h"

#include <algorithm>

namespace r3::trust {

namespace {

uint64_t beyond(uint64_t Bytes, uint64_t Held) {
  return Bytes > Held ? Bytes - Held : 0;
}

double timeUs(double Amount, double PerUs) {
  return PerUs > 0 ? Amount / PerUs : 0;
}

} // namespace

uint64_t bytesInSectors(const IntervalSet &Set) {
  uint64_t Sectors = 0, Next = 0; // the first sector that is not counted yet
  for (const Interval &I : Set.intervals()) {
    const uint64_t First = std::max(Next, I.Begin / SectorBytes);
    Next = (I.End - 1) / SectorBytes + 1;
    Sectors += beyond(Next, First);
  }
  return Sectors * SectorBytes;
}

double floorUs(const Work &Launch, const RatesReport &Rates, CacheMode Mode) {
  const uint64_t ColdRead = Mode == CacheMode::Cold
                                ? Launch.ReadBytes
                                : beyond(Launch.ReadBytes, Rates.L2Bytes);
  const uint64_t FromMemory =
      ColdRead + beyond(Launch.WriteBytes, Rates.L2Bytes);
  return Rates.EmptyLaunchUs +
         std::max(
             {timeUs(double(FromMemory), Rates.MemoryBytesPerUs),
              timeUs(double(Launch.ReadBytes) + double(Launch.WriteBytes),
                     Rates.L2BytesPerUs),
              timeUs(double(Launch.Counted.Float), Rates.FloatFlopsPerUs),
              timeUs(double(Launch.Counted.Double), Rates.DoubleFlopsPerUs),
              timeUs(double(Launch.Counted.Half), Rates.HalfFlopsPerUs)});
}

bool isBelowFloor(double TimeUs, double FloorUs) {
  return TimeUs < FloorFraction * FloorUs;
}

} // namespace r3::trust
