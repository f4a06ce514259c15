// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/trust/Floor.h"

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

Floor floorOf(const Work &Launch, const RatesReport &Rates, CacheMode Mode) {
  const uint64_t ColdRead = Mode == CacheMode::Cold
                                ? Launch.ReadBytes
                                : beyond(Launch.ReadBytes, Rates.L2Bytes);
  const uint64_t FromMemory =
      ColdRead + beyond(Launch.WriteBytes, Rates.L2Bytes);
  const double Through = double(Launch.ReadBytes) + double(Launch.WriteBytes);
  const Operations &Made = Launch.Counted;
  const Floor Needs[] = {
      {timeUs(double(FromMemory), Rates.MemoryBytesPerUs), "memory"},
      {timeUs(Through, Rates.L2BytesPerUs), "the L2 cache"},
      {timeUs(double(Made.Float), Rates.FloatFlopsPerUs), "float arithmetic"},
      {timeUs(double(Made.Double), Rates.DoubleFlopsPerUs),
       "double arithmetic"},
      {timeUs(double(Made.Half), Rates.HalfFlopsPerUs), "half arithmetic"}};
  Floor Longest;
  for (const Floor &Need : Needs)
    if (Need.Us > Longest.Us)
      Longest = Need;
  Longest.Us += Rates.EmptyLaunchUs;
  return Longest;
}

bool isBelowFloor(double TimeUs, double FloorUs) {
  return TimeUs < FloorFraction * FloorUs;
}

} // namespace r3::trust
