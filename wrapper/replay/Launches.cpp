// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a variant is launched, and where: its guards choose the recordings that
// it is evaluated on, its launch map another grid, block or shared memory than
// the recorded ones. The original is launched as recorded in any case.
#include "wrapper/replay/Evaluation.h"

#include "runtime/support/LaunchMap.h"

namespace r3::replay {

namespace {

/// The rules with what they gave: "grid.x = 'ceildiv(grid.x, 2)' gives 1".
std::string describe(const std::vector<LaunchRule> &Rules,
                     const LaunchConfig &Mapped) {
  std::string List;
  for (const LaunchRule &R : Rules)
    List += (List.empty() ? "" : ", ") +
            format("%s = '%s' gives %u", R.Target.c_str(), R.Value.c_str(),
                   launchPart(Mapped, R.Target).value_or(0));
  return List;
}

} // namespace

/// Leaves the recordings in which the variant's guards hold.
trust::Judgement Session::chooseRecordings(Evaluation &E) {
  auto Guards = allGuards(E.Change);
  if (!Guards)
    return {Outcome::Refused, Guards.error().message()};
  std::vector<size_t> Kept;
  std::map<std::string, size_t> Broken; // by guard
  for (size_t Index : E.Recordings) {
    auto First =
        firstBroken(*Guards, LaunchView(Kernel->recordings()[Index].Manifest));
    if (!First)
      return {Outcome::Refused, "guard: " + First.error().message()};
    if (!*First) {
      Kept.push_back(Index);
      continue;
    }
    E.Excluded.push_back(Index);
    ++Broken[(*First)->text()];
  }
  for (const auto &[Text, Count] : Broken)
    E.Guards += format("%sguard does not hold in %zu of %zu recordings: %s",
                       E.Guards.empty() ? "" : "; ", Count, E.Recordings.size(),
                       Text.c_str());
  if (Kept.empty())
    return {Outcome::Refused, "no recording is left: " + E.Guards};
  E.Recordings = std::move(Kept);
  return {};
}

/// Evaluates the launch map over all loaded recordings: builds of the variant
/// outlive this evaluation. It need not make sense in those that are not E's.
trust::Judgement Session::mapLaunches(Evaluation &E) {
  if (E.Change.Launch.empty())
    return {};
  std::map<size_t, Error> Failures;
  for (const LoadedRecording &L : Kernel->recordings()) {
    auto Mapped = mapLaunch(E.Change.Launch, LaunchView(L.Manifest));
    if (!Mapped)
      Failures[E.Launches.size()] = Mapped.error();
    E.Launches.push_back(Mapped ? *Mapped : L.Manifest.Launch);
  }
  return forEach(E.Recordings, [&](size_t Index) -> trust::Judgement {
    auto Failure = Failures.find(Index);
    return Failure == Failures.end()
               ? trust::Judgement()
               : trust::Judgement{Outcome::Refused, Failure->second.message()};
  });
}

Session::CheckOutcome Session::checkGuards(Evaluation &E) {
  if (E.Change.Patch.empty())
    return {{}, "the source is the original's"};
  if (E.B.Promise.empty())
    return {};
  return {{Outcome::Refused, E.B.Promise}, ""};
}

Attempt Session::loadVariant(const char *Slot, std::vector<uint8_t> Binary,
                             const Evaluation &E) {
  return Device->setCode(Slot, std::move(Binary), Kernel->first().Name,
                         E.Launches);
}

/// Whether the device can launch what is in VariantSlot so.
trust::Judgement Session::checkLimitsOf(const Evaluation &E) {
  if (E.Launches.empty())
    return {};
  const LaunchLimits Limits = Device->limits(VariantSlot);
  return forEach(E.Recordings, [&](size_t Index) -> trust::Judgement {
    Error Failure = checkLimits(E.Change.Launch, E.Launches[Index], Limits);
    return Failure ? trust::Judgement{Outcome::Refused, Failure.message()}
                   : trust::Judgement();
  });
}

/// Whether all that the original writes is written in the other launch, too: a
/// grid that is too small may leave out what happens to be right already.
Session::CheckOutcome Session::checkCoverage(Evaluation &E) {
  if (E.Change.Launch.empty())
    return {{}, "the launch is the recorded one"};
  if (TracedSource.Prints.size() != E.Recordings.size())
    return {{}, "the variant was not traced"};
  std::string Why;
  size_t At = 0;
  auto J = forEach(E.Recordings, [&](size_t Index) -> trust::Judgement {
    const Prepared &P = Preparations[Index];
    const auto &Print = TracedSource.Prints[At++];
    if (!P.Print || !Print) {
      Why = P.Untraced.empty() ? "the variant was not traced" : P.Untraced;
      return {};
    }
    const MissingWrites Missing = missingWrites(*P.Print, *Print);
    if (!Missing.Bytes)
      return {};
    const auto &Buffers = Kernel->recordings()[Index].Buffers;
    return {Outcome::Wrong,
            format("launch map: %s: %llu bytes that the original writes are "
                   "not written (%s from byte %llu on)",
                   describe(E.Change.Launch, E.Launches[Index]).c_str(),
                   static_cast<unsigned long long>(Missing.Bytes),
                   Missing.Range < Buffers.size()
                       ? Buffers[Missing.Range].Name.c_str()
                       : "memory",
                   static_cast<unsigned long long>(Missing.Begin))};
  });
  return {J, J.ok() ? Why : ""};
}

} // namespace r3::replay
