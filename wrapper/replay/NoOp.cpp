// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The check "no-op": a kernel that returns at once is judged as the variant
// was, on the same recordings, with the same poison and, where the variant
// needed one, the same tolerance. Where it comes out right, the verdict on the
// variant says nothing.
#include "wrapper/replay/Evaluation.h"

#include <iterator>

namespace r3::replay {

/// Not ok where a kernel that does nothing is right on this recording.
trust::Judgement Session::judgeNothing(size_t Index, Evaluation &Nothing) {
  for (size_t Pattern = 0; Pattern < std::size(PoisonBytes); ++Pattern) {
    Attempt A = Device->run(
        Nothing.wants(Check::Poison)
            ? request(Index, NoOpSlot, Preparations[Index].Where, Pattern)
            : request(Index, NoOpSlot, Poison(), 0));
    if (!A.ok())
      return {A.Ending, "a kernel that does nothing: " + A.Message};
    if (!judgeResult(Index, /*IsVariant=*/true, A, Nothing).ok())
      return {};
  }
  return {Outcome::NotVerifiable, "a kernel that does nothing passes as well"};
}

Session::CheckOutcome Session::checkNoOp(Evaluation &E) {
  if (std::string Why = loadInstrumented(NoOpSlot, "no-op"); !Why.empty())
    return {{}, Why};
  Evaluation Nothing;
  Nothing.Wanted = E.Wanted;
  if (!E.Tolerance.empty()) {
    Nothing.MayRound = E.MayRound;
    Nothing.CloseTo = E.CloseTo;
  }
  return {forEach(E.Recordings,
                  [&](size_t Index) { return judgeNothing(Index, Nothing); }),
          ""};
}

} // namespace r3::replay
