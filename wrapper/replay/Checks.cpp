// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of Check.def that are steps of their own, in the table's order:
// some before the variant has run in any plain build, most after it has been
// found right on the recordings. Poison is no step, but how launches are made.
#include "wrapper/replay/Evaluation.h"

#include <chrono>

namespace r3::replay {

using Clock = std::chrono::steady_clock;

/// Whether it looks at the variant in builds of its own.
static bool needsCompiler(Check What) {
  return What == Check::Trace || What == Check::Coverage ||
         What == Check::Reads || What == Check::Unread ||
         What == Check::Frozen || What == Check::Guards ||
         What == Check::BlockOrder;
}

/// A check that does not apply is left out of the verdict: it says why in
/// NotMade.
trust::Judgement Session::makeCheck(Check What, CheckMethod Method,
                                    Evaluation &E) {
  if (!E.wants(What) || Cancelled)
    return {};
  const auto Start = Clock::now();
  CheckOutcome Found = !E.Change.Ptx.empty() && needsCompiler(What)
                           ? CheckOutcome{{},
                                          "it looks at builds of the source, "
                                          "and there is only PTX"}
                           : (this->*Method)(E);
  const std::chrono::duration<double, std::milli> Spent = Clock::now() - Start;
  E.Checks.push_back(
      {What, Found.NotMade.empty(), Found.Verdict.Result,
       Found.NotMade.empty() ? Found.Verdict.Message : Found.NotMade,
       Spent.count()});
  E.Ms["check " + std::string(checkName(What))] += Spent.count();
  return Found.Verdict;
}

trust::Judgement Session::checkBefore(Evaluation &E) {
  static constexpr std::pair<Check, CheckMethod> Table[] = {
      {Check::Precision, &Session::checkPrecision},
      {Check::Cache, &Session::checkCache},
      {Check::Trace, &Session::checkTrace},
      {Check::Coverage, &Session::checkCoverage},
  };
  for (const auto &[What, Method] : Table)
    if (auto J = makeCheck(What, Method, E); !J.ok())
      return J;
  // Where pages cannot be locked, a launch would only show results that differ.
  if (!judgeWrites(E).ok())
    return makeCheck(Check::ReadOnly, &Session::checkReadOnly, E);
  return {};
}

trust::Judgement Session::checkAfter(Evaluation &E) {
  static constexpr std::pair<Check, CheckMethod> Table[] = {
      {Check::Poison, &Session::notePoison},
      {Check::ReadOnly, &Session::checkReadOnly},
      {Check::Reads, &Session::checkReads},
      {Check::Scratch, &Session::checkScratch},
      {Check::Frozen, &Session::checkFrozen},
      {Check::NoOp, &Session::checkNoOp},
      {Check::Guards, &Session::checkGuards},
      {Check::BlockOrder, &Session::checkBlockOrder},
      {Check::Sanitizer, &Session::checkSanitizer},
      {Check::Memcheck, &Session::checkMemcheck},
      {Check::Perturbed, &Session::checkPerturbed},
      {Check::Unread, &Session::checkUnread},
      {Check::Relocated, &Session::checkRelocated},
      {Check::Pristine, &Session::checkPristine},
  };
  for (const auto &[What, Method] : Table)
    if (auto J = makeCheck(What, Method, E); !J.ok())
      return J;
  return {};
}

/// How much was overwritten before the launches that were found right.
Session::CheckOutcome Session::notePoison(Evaluation &E) {
  uint64_t Bytes = 0;
  std::string Why;
  for (size_t Index : E.Recordings) {
    const Prepared &P = Preparations[Index];
    Bytes += P.Where.Bytes;
    if (!P.Untraced.empty())
      Why = P.Untraced;
  }
  if (!Bytes)
    return {{}, Why.empty() ? "nothing is written that is not read" : Why};
  return {{Outcome::Ok, format("%llu bytes overwritten with %zu patterns",
                               static_cast<unsigned long long>(Bytes),
                               std::size(PoisonBytes))},
          ""};
}

/// A source that writes an allocation, as it was traced, that the original
/// never writes: found also where that shares pages with what is written.
trust::Judgement Session::judgeWrites(const Evaluation &E) const {
  if (E.Change.Patch.empty() || !E.wants(Check::Trace) ||
      TracedSource.Prints.size() != E.Recordings.size())
    return {};
  for (size_t At = 0; At < E.Recordings.size(); ++At) {
    const auto &Original = Preparations[E.Recordings[At]].Print;
    const auto &Variant = TracedSource.Prints[At];
    const LoadedRecording &L = Kernel->recordings()[E.Recordings[At]];
    for (size_t Range = 0;
         Original && Variant && Range < Variant->Ranges.size(); ++Range)
      if (const IntervalSet &New = Variant->Ranges[Range].Written;
          !New.empty() && Original->Ranges[Range].Written.empty())
        return {Outcome::IllegalAccess,
                format("recording %s: it writes what the original never "
                       "writes: %s, byte %llu",
                       L.Id.substr(0, 8).c_str(), L.Buffers[Range].Name.c_str(),
                       static_cast<unsigned long long>(
                           New.intervals().front().Begin))};
  }
  return {};
}

/// And how much was read-only during the launches that were found right.
Session::CheckOutcome Session::checkReadOnly(Evaluation &E) {
  if (auto J = judgeWrites(E); !J.ok())
    return {J, ""};
  uint64_t Bytes = 0;
  std::string Why = "all of its pages hold something that the original writes";
  for (size_t Index : E.Recordings) {
    const Prepared &P = Preparations[Index];
    Bytes += P.LockedBytes;
    for (const std::string *Each : {&P.Untraced, &P.NotLocked})
      if (!Each->empty())
        Why = *Each;
  }
  if (!Bytes)
    return {{}, Why};
  return {{Outcome::Ok, format("%llu bytes that the original never writes",
                               static_cast<unsigned long long>(Bytes))},
          ""};
}

} // namespace r3::replay
