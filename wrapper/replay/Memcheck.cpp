// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The variant under compute-sanitizer's memcheck and initcheck, which are blind
// in mapped memory: each recorded allocation is one of the driver's own there
// (Plain.h), and the recorded contents are copied into it, but for what the
// original writes and never reads. So an access behind an allocation's last
// byte is seen, and a read of what nothing has written. Not where memory may
// hold addresses: nobody knows which words of it those are.
#include "wrapper/replay/Evaluation.h"
#include "wrapper/replay/Sanitizer.h"

#include "wrapper/trust/Relocate.h"

#include <algorithm>

namespace r3::replay {

namespace {

/// Copies into one allocation; with more, something stays unchecked.
constexpr size_t MostPieces = 1 << 16;
/// Between allocations, so that the next one is not reached at once.
constexpr char PaddingBytes[] = "4096";

/// All of an allocation, but for what the original writes and never reads.
IntervalSet filledOf(uint64_t Size, const RangeFootprint *Original) {
  IntervalSet All;
  All.append({0, Size});
  if (!Original)
    return All;
  return coarsened(All.minus(Original->Written.minus(Original->Read)),
                   MostPieces);
}

/// Whether all that V changes is in the traced build, too: no pipeline, no code
/// generation, nobody's PTX.
bool isSourceAlone(Variant V) {
  const bool IsTraced =
      !V.Patch.empty() || !V.Launch.empty() || !V.Remap.empty();
  V.Patch.clear();
  V.Launch.clear();
  V.Remap.clear();
  V.Guards.clear();
  return IsTraced && V.isOriginal();
}

} // namespace

struct Session::PlainSet {
  KernelSet Set;
  std::vector<size_t> Origins;
  std::vector<PlainLaunch> List;
  uint64_t Unwritten = 0; // bytes
  std::string Dropped;    // why a recording is not in it
};

/// The recordings of E that can be had in plain memory.
Expected<Session::PlainSet> Session::plainLaunches(const Evaluation &E) const {
  PlainSet Plain;
  std::vector<Recording> Launches;
  for (size_t Index : E.Recordings) {
    const LoadedRecording &L = Kernel->recordings()[Index];
    const auto &Known = Preparations[Index].Print;
    const Footprint *Print = Known ? &*Known : nullptr;
    const auto Alignments = alignmentsNeeded(L, Print, E.Change);
    const trust::Relocation To(L.Manifest, Alignments);
    auto Holds = holdsAddress(*Kernel, L, Print, To);
    if (!Holds)
      return Holds.error();
    if (*Holds)
      Plain.Dropped = "memory may hold addresses";
    else if (To.empty())
      Plain.Dropped = "no memory is used";
    else if (std::ranges::max(Alignments) > PlainAlignment)
      Plain.Dropped = format("an allocation must be aligned to more than %llu",
                             static_cast<unsigned long long>(PlainAlignment));
    if (*Holds || To.empty() || std::ranges::max(Alignments) > PlainAlignment)
      continue;
    PlainLaunch P;
    for (const auto &W : To.argumentWords(L.Manifest))
      P.Words.push_back({W.Offset, W.Allocation});
    for (size_t I = 0; I < L.Manifest.Allocations.size(); ++I) {
      const uint64_t Size = L.Manifest.Allocations[I].Size;
      P.Filled.push_back(filledOf(Size, Print ? &Print->Ranges[I] : nullptr));
      Plain.Unwritten += Size - P.Filled.back().bytes();
    }
    Plain.List.push_back(std::move(P));
    Plain.Origins.push_back(Index);
    Launches.push_back(L.Manifest);
  }
  if (!Launches.empty())
    Plain.Set = Kernel->derive(std::move(Launches), nullptr);
  return Plain;
}

/// One launch of each.
Session::CheckOutcome Session::sanitizePlain(const std::string &Tool,
                                             const char *Slot,
                                             PlainSet &Launches) {
  DeviceLink::Options O = Device->options();
  O.Launcher = underSanitizer(Tool, Kernel->first().Name);
  // What R3 tries and does without is no finding.
  if (Tool == "memcheck")
    for (const char *Word :
         {"--report-api-errors", "no", "--padding", PaddingBytes})
      O.Launcher.push_back(Word);
  DeviceLink Child(std::move(O), All);
  if (Error E = Child.open())
    return {{}, E.in(Tool).message()};
  auto Plan = Launches.Set.plan(Child.granularity(), Child.alignment());
  if (!Plan)
    return {{}, Plan.error().in(Tool).message()};
  for (size_t I = 0; I < Launches.List.size(); ++I)
    Launches.List[I].Filled.resize(Plan->Launches[I].Ranges.size());
  if (Error E = Child.loadPlain(std::move(*Plan)))
    return {{}, E.in(Tool).message()};
  Child.takeCodes(*Device, Launches.Origins);
  const std::vector<int> Packs = Launches.Set.packFds();
  Attempt Last;
  for (size_t I = 0; I < Launches.List.size() && Last.ok() && !Cancelled; ++I)
    Last = Child.runPlain(I, Slot, Launches.List[I], Packs,
                          deadlineMs(Launches.Origins[I], SanitizedSlower));
  Launches.Set.closePacks();
  CheckOutcome Found;
  Found.Verdict = judgeSanitizer(Tool, Child.finish(SanitizerPatience), Last,
                                 Found.NotMade);
  return Found;
}

/// Each tool costs a context and its own start: not where it finds nothing that
/// the traced build has not found.
Session::CheckOutcome Session::checkMemcheck(Evaluation &E) {
  if (isSourceAlone(E.Change) && E.wants(Check::Trace) &&
      E.wants(Check::Reads) && TracedSource.Recordings == E.Recordings &&
      TracedSource.Prints.size() == E.Recordings.size() &&
      std::ranges::all_of(TracedSource.Prints,
                          [](const auto &P) { return P.has_value(); }))
    return {{}, "the traced build has seen its accesses"};
  if (Device->identity().Backend != "cuda")
    return {{}, "it is a tool for GPUs"};
  if (underSanitizer("", "").empty())
    return {{}, NoSanitizer};
  auto Plain = plainLaunches(E);
  if (!Plain)
    return {{}, Plain.error().message()};
  if (Plain->List.empty())
    return {{}, Plain->Dropped};
  ToolsReport Report;
  for (const std::string Tool : {"memcheck", "initcheck"}) {
    CheckOutcome Found;
    if (Tool == "initcheck" && !Plain->Unwritten)
      Found.NotMade = "nothing is known to be written and not read";
    else
      Found = blame(Tool, [&](const char *Slot) {
        return sanitizePlain(Tool, Slot, *Plain);
      });
    if (!Found.Verdict.ok())
      return Found;
    Report.add(Tool, Found.NotMade);
  }
  if (Report.Made.empty())
    return {{}, Report.Left};
  std::string More = format(" on %zu of %zu recordings, %llu bytes unwritten",
                            Plain->List.size(), E.Recordings.size(),
                            static_cast<unsigned long long>(Plain->Unwritten));
  if (!Plain->Dropped.empty())
    More += " (" + Plain->Dropped + ")";
  return {{Outcome::Ok, Report.text(More)}, ""};
}

} // namespace r3::replay
