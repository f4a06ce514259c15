// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among evaluations.
#include "wrapper/r3/Winner.h"

#include "wrapper/r3/Text.h"

#include <algorithm>
#include <map>
#include <set>

namespace r3 {

namespace {

Winner chooseOn(const std::vector<const Evaluation *> &Made) {
  const Evaluation &Latest = *Made.back();
  Winner Found;
  Found.Key = Latest.Key;
  Found.Name = Latest.Name;
  Found.Device = Latest.Device;
  // The original against itself: what is not above this is noise.
  double Bar = LeastGain;
  const Evaluation *Best = nullptr;
  size_t Tried = 0;
  for (const Evaluation *E : Made) {
    if (E->Setting != Latest.Setting)
      continue;
    if (E->Change.isOriginal()) {
      Bar = std::max(Bar, E->Gain.High);
      continue;
    }
    ++Tried;
    if (E->Result == Outcome::Ok && (!Best || E->Gain.Low > Best->Gain.Low))
      Best = E;
  }
  if (!Best)
    Found.Why = "none of " + plural(Tried, "variant") +
                " was right and other "
                "than the original";
  else if (Best->Gain.Low <= Bar)
    Found.Why = format(
        "the best, %s, is %s: its lower quartile is not above "
        "%.3f",
        Best->Note.c_str(),
        gainText(Best->Gain.Median, Best->Gain.Low, Best->Gain.High).c_str(),
        Bar);
  else
    Found.Best = *Best;
  return Found;
}

} // namespace

std::vector<Winner> findWinners(const std::vector<Evaluation> &Made) {
  std::map<std::string, std::vector<const Evaluation *>> ByDevice;
  for (const Evaluation &E : Made)
    ByDevice[E.Device].push_back(&E);
  std::vector<Winner> Winners;
  for (const auto &[Device, Here] : ByDevice)
    Winners.push_back(chooseOn(Here));
  return Winners;
}

Expected<Evaluation> findVariant(const std::vector<Evaluation> &Made,
                                 const std::string &Prefix) {
  std::set<std::string> Ids;
  const Evaluation *Latest = nullptr;
  for (const Evaluation &E : Made) {
    std::string Id = E.Change.id().hex();
    if (E.Change.isOriginal() || !Id.starts_with(Prefix))
      continue;
    Ids.insert(Id);
    Latest = &E;
  }
  if (Ids.empty())
    return fail(
        ErrorCode::NotFound,
        "no variant %s was evaluated for this kernel; `r3 remix --json` "
        "lists them",
        Prefix.c_str());
  if (Ids.size() > 1)
    return fail(ErrorCode::Usage, "variant %s is one of %zu: give more digits",
                Prefix.c_str(), Ids.size());
  const Evaluation *Ran = Latest;
  for (const Evaluation &E : Made)
    if (Latest->SameAs && E.Id == Latest->SameAs)
      Ran = &E;
  if (Ran->Result != Outcome::Ok)
    return fail(ErrorCode::Wrong, "variant %s (%s) is not right: %s%s%s",
                Prefix.c_str(), Latest->Note.c_str(),
                std::string(outcomeName(Ran->Result)).c_str(),
                Ran->Message.empty() ? "" : ": ", Ran->Message.c_str());
  return *Latest;
}

} // namespace r3
