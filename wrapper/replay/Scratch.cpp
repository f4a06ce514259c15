// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check "scratch": a variant must not live on what its shared and local
// memory happen to hold, such as what an earlier launch left there. The very
// code that was found right is launched with each of two patterns in them. The
// original is asked only where a variant fails: then it may do so, too.
#include "wrapper/replay/Evaluation.h"

#include <iterator>

namespace r3::replay {

namespace {
constexpr unsigned FilledSlower = 5; // than others may take
} // namespace

/// Launches the code of a slot with each pattern.
trust::Judgement Session::runFilled(size_t Index, const char *Slot,
                                    Evaluation &E) {
  for (size_t Pattern = 0; Pattern < std::size(PoisonBytes); ++Pattern) {
    DeviceLink::RunRequest R =
        E.wants(Check::Poison)
            ? request(Index, Slot, Preparations[Index].Where, Pattern)
            : request(Index, Slot, Poison(), 0);
    R.PoisonByte = PoisonBytes[Pattern];
    R.Scratch = true;
    R.DeadlineMs = deadlineMs(Index, FilledSlower);
    double Ns = 0;
    if (auto J = launchAndJudge(R, Ns, E); !J.ok())
      return {J.Result, format("with 0x%02x in shared and local memory: ",
                               PoisonBytes[Pattern]) +
                            J.Message};
  }
  return {};
}

Session::CheckOutcome Session::checkScratch(Evaluation &E) {
  const std::string Tolerance = E.Tolerance; // without patterns
  std::string NotMade;
  auto J = forEach(E.Recordings, [&](size_t Index) {
    auto Variant = runFilled(Index, VariantSlot, E);
    if (Variant.ok())
      return Variant;
    if (Variant.Result == Outcome::OutOfMemory) { // it ran without patterns
      NotMade = Variant.Message;
      return trust::Judgement();
    }
    Evaluation Own;
    Own.Wanted = E.Wanted;
    const auto Original = runFilled(Index, OriginalSlot, Own);
    if (Original.ok())
      return Variant;
    NotMade = "the original itself depends on what it has not written: " +
              Original.Message;
    return trust::Judgement();
  });
  E.Tolerance = Tolerance;
  return {J, J.ok() ? NotMade : ""};
}

} // namespace r3::replay
