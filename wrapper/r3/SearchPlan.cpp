// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/SearchPlan.h"

#include "runtime/support/Json.h"
#include "wrapper/r3/SearchWatcher.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"
#include "wrapper/remix/Headroom.h"

#include <algorithm>
#include <set>

namespace r3 {

namespace {

Error takeKnown(PlannedKernel &Into, const std::string &Setting, Journal &Log) {
  auto Made = Log.evaluations({Into.Kernel->About.Key, "", Setting, 0});
  if (!Made)
    return Made.error();
  Into.Known = Made->size();
  for (const Evaluation &E : *Made)
    if (E.Result == Outcome::Ok && !E.Change.isOriginal() &&
        (!Into.Best || E.Gain.Low > Into.Best->Gain.Low))
      Into.Best = E;
  return Error::success();
}

void takeRecordings(PlannedKernel &Into,
                    const std::vector<SearchRecording> &All) {
  std::set<std::string> Classes;
  for (const SearchRecording &R : All) {
    Into.Held += R.Held;
    Classes.insert(R.About.Class);
  }
  Into.Classes = Classes.size();
}

std::string spaceText(const PlannedKernel &K) {
  return K.Points ? countText(*K.Points) : "unbounded";
}

} // namespace

Expected<SearchPlan>
SearchPlan::make(const std::vector<SearchKernel> &Kernels,
                 const std::vector<std::vector<SearchRecording>> &GateSees,
                 const SearchOptions &Options, const Evaluator &Worker,
                 Journal *Log) {
  SearchPlan Plan;
  Plan.Device = Worker.identity();
  Plan.Compilers = Worker.compilers();
  Plan.Patience = Options.Patience;
  Plan.State.BudgetMs = Options.BudgetMs;
  Plan.State.MaxEvaluations = Options.MaxEvaluations;
  if (Log) {
    auto Begun =
        Log->findSession(sessionIdentity(Kernels, Plan.Device, Options));
    if (!Begun)
      return Begun.error();
    if (*Begun) {
      Plan.State = **Begun;
      Plan.State.BudgetMs = std::max(Plan.State.BudgetMs, Options.BudgetMs);
      Plan.State.MaxEvaluations = Options.MaxEvaluations;
    }
  }
  Plan.State.BudgetMs += Options.MoreMs;
  const uint64_t LeftMs =
      Plan.State.BudgetMs - std::min(Plan.State.BudgetMs, Plan.State.SpentMs);
  const uint64_t Left =
      Plan.State.MaxEvaluations -
      std::min(Plan.State.MaxEvaluations, Plan.State.Evaluations);
  double Weights = 0;
  for (const SearchKernel &K : Kernels)
    Weights += K.weight();
  for (size_t I = 0; I < Kernels.size(); ++I) {
    const SearchKernel &K = Kernels[I];
    PlannedKernel &P = Plan.Kernels.emplace_back();
    P.Kernel = &K;
    takeRecordings(P, GateSees[I]);
    auto Space = Options.Space.Open(
        spaceInput(K, Plan.Device, Worker.pipelines(), Options.Seed));
    if (!Space)
      return Space.error().in(K.About.Name);
    P.Points = (*Space)->count();
    P.Dimensions = (*Space)->dimensions();
    if (Log)
      if (Error E = takeKnown(P, settingOf(K, Plan.Device), *Log))
        return E;
    const double Part = Weights > 0 ? K.weight() / Weights : 0;
    P.BudgetMs = uint64_t(Part * double(LeftMs));
    P.Evaluations = uint64_t(Part * double(Left));
  }
  return Plan;
}

void SearchPlan::print(Context &Given) const {
  std::string Text = "device " + Device.Key + ", 1 worker that builds with " +
                     plural(Compilers, "process") +
                     (Compilers == 1 ? "" : "es") + "\n";
  Table Lines({"KERNEL", ">SHARE", ">HEADROOM", ">RECORDINGS", ">SPACE",
               ">KNOWN", ">RANKED", ">BUDGET"});
  for (const PlannedKernel &P : Kernels) {
    const SearchKernel &K = *P.Kernel;
    Lines.add({shortened(printable(K.About.Name), 48), percentText(K.Share),
               headroomText(K.Above),
               format("%zu+%zu", K.Recordings.size(), P.Held), spaceText(P),
               countText(P.Known),
               P.Best ? gainText(P.Best->Gain.Median, P.Best->Gain.Low,
                                 P.Best->Gain.High)
                      : "-",
               !K.isSearched()                ? "no search"
               : State.BudgetMs < NoTimeLimit ? clockText(P.BudgetMs)
                                              : countText(P.Evaluations)});
  }
  Text += Lines.text();
  for (const PlannedKernel &P : Kernels) {
    Text += printable(P.Kernel->About.Name) + ":";
    for (const auto &[Name, Values] : P.Dimensions)
      Text += " " + printable(Name) + " " + countText(Values);
    const std::string &Why = P.Kernel->Above.Unknown;
    Text +=
        (Why.empty() ? "" : "; headroom not known: " + printable(Why)) + "\n";
  }
  Text += spentText(State) + " spent" +
          (State.Resumed ? ", " + plural(State.Evaluations, "evaluation") +
                               " made: it would go on"
                         : "") +
          (State.MaxEvaluations
               ? ", at most " + countText(State.MaxEvaluations) + " evaluations"
               : "") +
          (Patience ? "; a kernel is left after " +
                          plural(Patience, "variant") + " without a better one"
                    : "") +
          "\nRECORDINGS: seen by the search + by the gate alone. Nothing was "
          "searched.\n";
  Given.Out.print(Text);
}

static void writeKernel(json::PrettyWriter &W, const PlannedKernel &P) {
  const SearchKernel &K = *P.Kernel;
  W.StartObject();
  W.Key("key");
  W.String(K.About.Key);
  W.Key("name");
  W.String(K.About.Name);
  W.Key("share");
  W.Double(K.Share);
  W.Key("headroom"); // of the time; null: not known
  if (auto Part = K.Above.part())
    W.Double(*Part);
  else
    W.Null();
  W.Key("headroomUnknown"); // why
  W.String(K.Above.Unknown);
  W.Key("searched");
  W.Bool(K.isSearched());
  const struct {
    const char *Name;
    uint64_t Value;
  } Numbers[] = {{"recordings", K.Recordings.size()},
                 {"held", P.Held},
                 {"classes", P.Classes},
                 {"known", P.Known},
                 {"budgetMs", P.BudgetMs},
                 {"evaluations", P.Evaluations}};
  for (const auto &Row : Numbers) {
    W.Key(Row.Name);
    W.Uint64(Row.Value);
  }
  W.Key("best"); // that the journal knows; null: none
  if (P.Best)
    W.Double(P.Best->Gain.Median);
  else
    W.Null();
  W.Key("variants"); // null: more than are counted
  if (P.Points)
    W.Uint64(*P.Points);
  else
    W.Null();
  W.Key("space");
  W.StartObject();
  for (const auto &[Name, Values] : P.Dimensions) {
    W.Key(Name);
    W.Uint64(Values);
  }
  W.EndObject();
  W.EndObject();
}

void SearchPlan::printJson(Context &Given) const {
  rapidjson::StringBuffer Buffer;
  json::PrettyWriter W(Buffer);
  W.StartObject();
  W.Key("device");
  W.String(Device.Key);
  W.Key("tools");
  W.String(Device.Tools);
  W.Key("workers");
  W.Uint(1);
  W.Key("compilers");
  W.Uint(Compilers);
  W.Key("begun");
  W.Bool(State.Resumed);
  const struct {
    const char *Name;
    uint64_t Value;
  } Numbers[] = {{"spentMs", State.SpentMs},
                 {"budgetMs", State.BudgetMs},
                 {"evaluations", State.Evaluations},
                 {"maxEvaluations", State.MaxEvaluations}, // 0: no limit
                 {"patience", Patience}};
  for (const auto &Row : Numbers) {
    W.Key(Row.Name);
    W.Uint64(Row.Value);
  }
  W.Key("kernels");
  W.StartArray();
  for (const PlannedKernel &P : Kernels)
    writeKernel(W, P);
  W.EndArray();
  W.EndObject();
  Given.Out.print(std::string(Buffer.GetString()) + "\n");
}

} // namespace r3
