// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floors (wrapper/trust/Floor.h): bytes as the traced build of the original has
// shown them, since whatever is right must read and write these; operations as
// the code itself makes them (plugin/instrument/Count.h), since an honest edit
// may need fewer than the original.
#include "wrapper/replay/Evaluation.h"

#include "wrapper/trust/Floor.h"

#include <algorithm>
#include <chrono>

namespace r3::replay {

namespace {

using Clock = std::chrono::steady_clock;
/// A thread adds to its counters after each block of code.
constexpr unsigned CountedSlower = 5; // than others may take

bool hasArithmetic(const RatesReport &Rates) {
  return std::max({Rates.FloatFlopsPerUs, Rates.DoubleFlopsPerUs,
                   Rates.HalfFlopsPerUs}) > 0;
}

} // namespace

/// Why there is no number; empty: there is.
std::string Session::countOperations(size_t Index, const char *Slot,
                                     Operations &Into) {
  DeviceLink::RunRequest R{Index, Slot};
  R.Count = true;
  R.DeadlineMs = deadlineMs(Index, CountedSlower);
  const Attempt A = Device->run(R);
  if (!A.ok() || !A.Counted)
    return "the counting launch: " + A.Message;
  Into = *A.Counted;
  return {};
}

/// Why: what the code in Slot cannot count; empty: nothing.
FloorReport Session::floorOf(size_t Index, const char *Slot,
                             const std::string &Why) {
  FloorReport F;
  F.Uncounted = Why;
  const auto &Print = Preparations[Index].Print;
  if (!Rates || !Print)
    return F;
  if (Why.empty())
    F.Uncounted = countOperations(Index, Slot, F.Counted);
  if (F.Uncounted.empty() && !hasArithmetic(*Rates))
    F.Uncounted = "how fast this device calculates is not known";
  for (const RangeFootprint &R : Print->Ranges) {
    F.ReadBytes += trust::bytesInSectors(R.Read);
    F.WrittenBytes += trust::bytesInSectors(R.Written);
  }
  const trust::Work Launch{F.ReadBytes, F.WrittenBytes, F.Counted};
  const trust::Floor Cold = trust::floorOf(Launch, *Rates, CacheMode::Cold);
  const trust::Floor Warm = trust::floorOf(Launch, *Rates, CacheMode::Warm);
  F.ColdUs = Cold.Us;
  F.WarmUs = Warm.Us;
  F.ColdBy = Cold.By;
  F.WarmBy = Warm.By;
  return F;
}

FloorReport Session::floorOfOriginal(size_t Index) {
  if (!Rates || !Preparations[Index].Verdict.ok())
    return {};
  return floorOf(Index, CountedSlot, loadInstrumented(CountedSlot, "count"));
}

void Session::findFloors(Evaluation &E) {
  const auto Start = Clock::now();
  std::string Why;
  if (!E.Change.isOriginal()) {
    Build B = Compiler->build(E.Change.canonicalJson(), Setup.BuildDeadlineMs,
                              "count");
    if (B.Ending != Outcome::Ok)
      Why = B.Message;
    else if (!B.Unseen.empty())
      Why = B.Unseen.front();
    else
      Why = loadVariant(CountedVariantSlot, std::move(B.Binary), E).Message;
  }
  for (size_t Index : E.Recordings)
    E.Floors.push_back(E.Change.isOriginal()
                           ? floorOfOriginal(Index)
                           : floorOf(Index, CountedVariantSlot, Why));
  E.Ms["floor"] =
      std::chrono::duration<double, std::milli>(Clock::now() - Start).count();
}

} // namespace r3::replay
