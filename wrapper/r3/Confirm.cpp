// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/Confirm.h"

#include "runtime/support/Applicable.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"
#include "wrapper/remix/EvidenceText.h"

#include <algorithm>

namespace r3 {

namespace {

constexpr size_t MostClasses = 4;
/// Candidates of one kernel: each further one spends half the error.
constexpr unsigned MostTries = 2;

Evidence evidenceOf(const GateReport &Found, const Evaluation &Of) {
  Evidence E;
  E.Key = Of.Key;
  E.Device = Of.Device;
  E.Setting = Of.Setting;
  E.VariantId = Of.Change.id().hex();
  E.Level = evidenceLevel(Found);
  E.Evaluation = Of.Id;
  if (!Found.Gains.empty())
    E.Gain = {Found.Gains[0].Judged.Ratio, Found.Gains[0].Judged.AtLeast,
              Found.Gains[0].AtMost.value_or(0)};
  E.Detail = evidenceJson(Found);
  return E;
}

std::string rejection(const GateReport &Found, const Evaluation &Of) {
  const std::string What =
      Found.Result != Outcome::Ok
          ? std::string(outcomeName(Found.Result)) + ": " + Found.Message
      : Found.Gains.empty()            ? "not timed"
      : !Found.Message.empty()         ? Found.Message
      : Found.Gains[0].Judged.Accepted ? "slower in another argument class"
                                       : Found.Gains[0].Judged.Message;
  return Of.Note + ": " + What;
}

} // namespace

static SearchRecording toSearch(const CatalogueRecording &R) {
  const Recording &M = R.Manifest;
  return {R.Path,
          {R.Id, M.Class, M.Device.Backend, M.footprint(), M.DurationNs}};
}

std::vector<SearchRecording> gateRecordings(const CatalogueKernel &K) {
  // In the order in which the classes were first seen.
  std::vector<std::vector<const CatalogueRecording *>> Classes;
  for (const CatalogueRecording &R : K.Recordings) {
    if (!R.isReplayable())
      continue;
    auto Own =
        std::find_if(Classes.begin(), Classes.end(), [&](const auto &Class) {
          return Class[0]->Manifest.Class == R.Manifest.Class;
        });
    if (Own != Classes.end())
      Own->push_back(&R);
    else if (Classes.size() < MostClasses)
      Classes.push_back({&R});
  }
  std::vector<SearchRecording> Result;
  for (const auto &Class : Classes) {
    Result.push_back(toSearch(*Class.front()));
    if (Class.size() > 1)
      Result.push_back(toSearch(*Class.back()));
  }
  holdOut(Result);
  return Result;
}

std::vector<SearchRecording>
searchRecordings(const std::vector<SearchRecording> &All) {
  std::vector<SearchRecording> Seen;
  std::copy_if(All.begin(), All.end(), std::back_inserter(Seen),
               [](const SearchRecording &R) { return !R.Held; });
  return Seen;
}

SearchKernel searchKernel(const CatalogueKernel &K) {
  SearchKernel S;
  S.About = {K.Key, K.Display, K.Home};
  S.Share = K.Share;
  S.Recordings = searchRecordings(gateRecordings(K));
  for (const CatalogueRecording &R : K.Recordings)
    if (R.isReplayable()) {
      S.Level = R.Manifest.Level;
      S.Arch = R.Manifest.Arch;
    }
  for (const SearchRecording &Seen : S.Recordings)
    for (const CatalogueRecording &R : K.Recordings)
      if (R.Path == Seen.Path)
        S.Launches.push_back(spaceLaunch(R.Manifest));
  return S;
}

namespace {

/// What the gate says of a variant, now or before.
struct Verdict {
  Evidence Found;
  std::string Why; // it is not accepted
};

/// The latest evidence of a variant in its setting.
const Evidence *latest(const std::vector<Evidence> &Known,
                       const Evaluation &Of) {
  const auto Found =
      std::find_if(Known.rbegin(), Known.rend(), [&](const Evidence &Each) {
        return Each.Setting == Of.Setting &&
               Each.VariantId == Of.Change.id().hex();
      });
  return Found == Known.rend() ? nullptr : &*Found;
}

/// Through the gate, unless it was there before. Try: of this kernel.
Expected<Verdict> judge(Journal &Log, const std::vector<Evidence> &Known,
                        const Evaluation &Of, unsigned Try,
                        const std::vector<SearchRecording> &Recordings,
                        const EvaluatorSource &Source,
                        const std::atomic<bool> &Stop,
                        const GateProgress &Tell) {
  if (const Evidence *Before = latest(Known, Of))
    return Verdict{*Before, Of.Note + ": did not pass the gate before"};
  GateOptions Options;
  Options.Try = Try;
  Options.Which = Accept::Bits; // as in the search
  auto Report = Gate(Source, Options, Stop, Tell).run(Recordings, Of.Change);
  if (!Report)
    return Report.error();
  Verdict Result{evidenceOf(*Report, Of), rejection(*Report, Of)};
  if (Error E = Log.addEvidence(Result.Found))
    return E;
  return Result;
}

/// Whether the verdict is a good one.
bool take(const Verdict &V, const Evaluation &Of, Confirmation &Into) {
  Into.Why = V.Why;
  if (V.Found.Level == "rejected")
    return false;
  Into.Accepted = V.Found;
  Into.Variant = Of;
  Into.Why.clear();
  return true;
}

} // namespace

Expected<Confirmation> confirm(Journal &Log, const std::string &Key,
                               const std::string &Setting,
                               const std::vector<SearchRecording> &Recordings,
                               const EvaluatorSource &Source,
                               const std::atomic<bool> &Stop,
                               const GateProgress &Tell) {
  auto Made = Log.evaluations({Key, "", Setting, 0});
  if (!Made)
    return Made.error();
  auto Known = Log.evidence(Key);
  if (!Known)
    return Known.error();
  Confirmation Result;
  const Candidates Best = findCandidates(*Made);
  Result.Why = Best.Why;
  unsigned Try = 0;
  for (const Evaluation &E : Best.List) {
    if (Try == MostTries)
      break;
    if (const std::string Needs = notApplicable(E.Change); !Needs.empty()) {
      if (Result.NotApplicable.empty())
        Result.NotApplicable =
            E.Note + ", " + gainText(E.Gain.Median, E.Gain.Low, E.Gain.High) +
            ", cannot be applied: it needs " + Needs;
      continue;
    }
    auto Found = judge(Log, *Known, E, Try++, Recordings, Source, Stop, Tell);
    if (!Found)
      return Found.error();
    if (take(*Found, E, Result))
      break;
  }
  if (!Best.List.empty() && !Try)
    Result.Why = "nothing that is above the noise can be applied";
  return Result;
}

Expected<Confirmation>
confirmOne(Journal &Log, const Evaluation &Of,
           const std::vector<SearchRecording> &Recordings,
           const EvaluatorSource &Source, const std::atomic<bool> &Stop,
           const GateProgress &Tell) {
  auto Known = Log.evidence(Of.Key);
  if (!Known)
    return Known.error();
  // What was tried before it has spent its part of the error.
  const auto Tried =
      std::count_if(Known->begin(), Known->end(),
                    [&](const Evidence &E) { return E.Setting == Of.Setting; });
  auto Found =
      judge(Log, *Known, Of, unsigned(Tried), Recordings, Source, Stop, Tell);
  if (!Found)
    return Found.error();
  Confirmation Result;
  take(*Found, Of, Result);
  return Result;
}

} // namespace r3
