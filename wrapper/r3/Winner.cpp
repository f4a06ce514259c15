// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among evaluations and evidence.
#include "wrapper/r3/Winner.h"

#include "wrapper/r3/Text.h"

#include <algorithm>
#include <map>
#include <set>

namespace r3 {

Candidates findCandidates(const std::vector<Evaluation> &Made) {
  Candidates Result;
  // The original against itself: what is not above this is noise.
  double Bar = LeastRanked;
  size_t Tried = 0;
  for (const Evaluation &E : Made) {
    if (E.Change.isOriginal()) {
      Bar = std::max(Bar, E.Gain.High);
      continue;
    }
    ++Tried;
    if (E.Result == Outcome::Ok)
      Result.List.push_back(E);
  }
  std::stable_sort(Result.List.begin(), Result.List.end(),
                   [](const Evaluation &A, const Evaluation &B) {
                     return A.Gain.Low > B.Gain.Low;
                   });
  if (Result.List.empty()) {
    Result.Why = "none of " + plural(Tried, "variant") +
                 " was right and other than the original";
    return Result;
  }
  const Evaluation Best = Result.List.front();
  std::erase_if(Result.List,
                [&](const Evaluation &E) { return E.Gain.Low <= Bar; });
  if (Result.List.empty())
    Result.Why = format(
        "the best, %s, is %s: its lower quartile is not above %.3f",
        Best.Note.c_str(),
        gainText(Best.Gain.Median, Best.Gain.Low, Best.Gain.High).c_str(), Bar);
  return Result;
}

static Winner chooseOn(const std::vector<const Evaluation *> &Made,
                       const std::vector<Evidence> &All) {
  const Evaluation &Latest = *Made.back();
  Winner Found;
  Found.Key = Latest.Key;
  Found.Name = Latest.Name;
  Found.Device = Latest.Device;
  std::vector<Evaluation> Here;
  for (const Evaluation *E : Made)
    if (E->Setting == Latest.Setting)
      Here.push_back(*E);
  bool Rejected = false;
  for (const Evidence &E : All) {
    if (E.Setting != Latest.Setting)
      continue;
    Rejected |= E.Level == "rejected";
    if (E.Level == "rejected")
      continue;
    for (const Evaluation &One : Here)
      if (One.Change.id().hex() == E.VariantId) {
        Found.Best = One;
        Found.Found = E;
      }
  }
  if (!Found.Best)
    Found.Why = Rejected ? "what was found did not pass the gate: r3 explain"
                         : findCandidates(Here).Why;
  if (!Found.Best && Found.Why.empty())
    Found.Why = "nothing has passed the gate yet: r3 remix goes on";
  return Found;
}

std::vector<Winner> findWinners(const std::vector<Evaluation> &Made,
                                const std::vector<Evidence> &Found) {
  std::map<std::string, std::vector<const Evaluation *>> ByDevice;
  for (const Evaluation &E : Made)
    ByDevice[E.Device].push_back(&E);
  std::vector<Winner> Winners;
  for (const auto &[Device, Here] : ByDevice)
    Winners.push_back(chooseOn(Here, Found));
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
