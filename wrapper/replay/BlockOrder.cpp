// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races between blocks, and between warps of a block, that pass by luck: the
// variant is launched with its blocks and warps in other orders (Remap.h). The
// original is, too: where that shows, its order counts, and the variant's may.
#include "wrapper/replay/Evaluation.h"

namespace r3::replay {

namespace {

/// Each read of an index is a call.
constexpr unsigned RemappedSlower = 5; // than others may take
/// The reverse, and two at random (RemapAbi.h).
constexpr uint64_t Orders[] = {1, 2, 3};

std::string orderName(uint64_t Order) {
  return Order == 1 ? "with blocks and warps in reverse order"
                    : "with blocks and warps in another order";
}

} // namespace

trust::Judgement Session::runReordered(size_t Index, const char *Slot,
                                       Evaluation &E) {
  for (uint64_t Order : Orders) {
    // Beyond the last pattern there is none.
    const size_t Pattern =
        E.wants(Check::Poison) ? Order % 2 : std::size(PoisonBytes);
    DeviceLink::RunRequest R =
        request(Index, Slot, Preparations[Index].Where, Pattern);
    R.OrderSeed = Order;
    R.DeadlineMs = deadlineMs(Index, RemappedSlower);
    double Ns = 0;
    if (auto J = launchAndJudge(R, Ns, E); !J.ok())
      return {J.Result, orderName(Order) + ": " + J.Message};
    if (Cancelled)
      break;
  }
  return {};
}

/// Why a recording says nothing about the order; empty where it does.
std::string Session::orderOfOriginal(size_t Index, const Evaluation &E) {
  std::optional<std::string> &Why = Preparations[Index].Order[E.MayRound];
  if (!Why) {
    Evaluation Own;
    Own.Wanted = E.Wanted;
    Own.MayRound = E.MayRound;
    Own.CloseTo = E.CloseTo;
    const auto J = runReordered(Index, RemappedSlot, Own);
    if (Cancelled) // of no meaning for the next request
      return "cancelled";
    Why = J.ok() ? ""
                 : "the original's result depends on block order: " + J.Message;
  }
  return *Why;
}

Session::CheckOutcome Session::checkBlockOrder(Evaluation &E) {
  if (std::string Why = loadInstrumented(RemappedSlot, "permute"); !Why.empty())
    return {{}, Why};
  std::vector<size_t> Independent;
  std::string Why;
  for (size_t Index : E.Recordings)
    if (std::string Depends = orderOfOriginal(Index, E); Depends.empty())
      Independent.push_back(Index);
    else
      Why = std::move(Depends);
  if (Independent.empty())
    return {{}, Why};
  Build B =
      Compiler->build(E.Change.canonicalJson(), Setup.BuildDeadlineMs, "permute");
  if (B.Ending != Outcome::Ok)
    return {{B.Ending, "built for other orders of blocks: " + B.Message}, ""};
  Attempt Loaded = loadVariant(RemappedVariantSlot, std::move(B.Binary), E);
  if (!Loaded.ok())
    return {
        {Loaded.Ending, "built for other orders of blocks: " + Loaded.Message},
        ""};
  const std::string Tolerance = E.Tolerance; // that of the plain build
  auto J = forEach(Independent, [&](size_t Index) {
    return runReordered(Index, RemappedVariantSlot, E);
  });
  E.Tolerance = Tolerance;
  if (J.ok())
    J.Message = format("%zu orders on %zu of %zu recordings", std::size(Orders),
                       Independent.size(), E.Recordings.size());
  return {J, ""};
}

} // namespace r3::replay
