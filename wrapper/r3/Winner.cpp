// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses among evaluations and evidence.
#include "wrapper/r3/Winner.h"

#include "wrapper/r3/Text.h"
#include "wrapper/remix/Statistics.h"

#include <algorithm>
#include <map>
#include <set>

namespace r3 {

/// Right variants that show what is usual on this device.
static constexpr size_t EnoughWidths = 8;

/// Ratios up to this are noise: where the original against itself gets to. That
/// is one measurement, and something else may have run meanwhile; it counts as
/// disturbed where it is wider than the variants' usual way from the median to
/// the upper quartile.
static double noiseOf(const std::vector<Evaluation> &Made) {
  double Original = 0;
  std::vector<double> Widths;
  for (const Evaluation &E : Made)
    if (E.Change.isOriginal())
      Original = std::max(Original, E.Gain.High);
    else if (E.Result == Outcome::Ok && E.Gain.Median > 0)
      Widths.push_back(E.Gain.High / E.Gain.Median);
  if (Widths.size() >= EnoughWidths)
    Original = std::min(Original, quantile(std::move(Widths), 0.5));
  return std::max(LeastRanked, Original);
}

Candidates findCandidates(const std::vector<Evaluation> &Made) {
  Candidates Result;
  const double Bar = noiseOf(Made);
  size_t Tried = 0;
  for (const Evaluation &E : Made) {
    if (E.Change.isOriginal())
      continue;
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

Expected<Evaluation> matchVariant(const std::vector<Evaluation> &Made,
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
  return *Latest;
}

const Evaluation &ranAs(const std::vector<Evaluation> &Made,
                        const Evaluation &One) {
  for (const Evaluation &E : Made)
    if (One.SameAs && E.Id == One.SameAs)
      return E;
  return One;
}

Expected<Evaluation> findVariant(const std::vector<Evaluation> &Made,
                                 const std::string &Prefix) {
  auto Found = matchVariant(Made, Prefix);
  if (!Found)
    return Found;
  const Evaluation &Ran = ranAs(Made, *Found);
  if (Ran.Result != Outcome::Ok)
    return fail(ErrorCode::Wrong, "variant %s (%s) is not right: %s%s%s",
                Prefix.c_str(), Found->Note.c_str(),
                std::string(outcomeName(Ran.Result)).c_str(),
                Ran.Message.empty() ? "" : ": ", Ran.Message.c_str());
  return Found;
}

Expected<Evaluation> chooseVariant(const std::string &Path,
                                   const std::string &Key,
                                   const std::string &Backend,
                                   const std::string &Prefix) {
  auto Log = Journal::openForReading(Path);
  if (!Log && Log.error().code() == ErrorCode::NotFound)
    return fail(ErrorCode::NotFound, "no search was made; `r3 remix` does");
  if (!Log)
    return Log.error();
  auto Made = (*Log)->evaluations({Key, Backend, "", 0});
  if (!Made)
    return Made.error();
  if (!Prefix.empty())
    return findVariant(*Made, Prefix);
  auto Found = (*Log)->evidence(Key);
  if (!Found)
    return Found.error();
  const std::vector<Winner> Winners = findWinners(*Made, *Found);
  for (const Winner &W : Winners)
    if (W.Best)
      return *W.Best;
  if (Made->empty())
    return fail(ErrorCode::NotFound, "no variant was evaluated");
  const std::string Setting = Made->back().Setting;
  std::erase_if(*Made,
                [&](const Evaluation &E) { return E.Setting != Setting; });
  Candidates Best = findCandidates(*Made);
  if (Best.List.empty())
    return Error(ErrorCode::NotFound, Best.Why);
  return std::move(Best.List.front());
}

} // namespace r3
