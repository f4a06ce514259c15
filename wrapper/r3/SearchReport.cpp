// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/SearchReport.h"

#include "runtime/support/Json.h"
#include "wrapper/r3/SearchWatcher.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/EvidenceText.h"
#include "wrapper/remix/Headroom.h"

#include <algorithm>

namespace r3 {

namespace {

void writeSpread(json::PrettyWriter &W, const RatioSpread &Gain) {
  W.StartObject();
  W.Key("median");
  W.Double(Gain.Median);
  W.Key("low");
  W.Double(Gain.Low);
  W.Key("high");
  W.Double(Gain.High);
  W.EndObject();
}

void writeEvaluation(json::PrettyWriter &W, const Evaluation &E) {
  W.StartObject();
  W.Key("variant");
  W.String(E.Change.id().hex());
  W.Key("note");
  W.String(E.Note);
  W.Key("change");
  std::string Change = E.Change.canonicalJson();
  W.RawValue(Change.data(), Change.size(), rapidjson::kObjectType);
  W.Key("outcome");
  W.String(std::string(outcomeName(E.Result)));
  W.Key("message");
  W.String(E.Message);
  W.Key("code");
  W.String(E.Code);
  W.Key("registers");
  W.Uint(E.Registers);
  W.Key("spills");
  W.Uint(E.Spills);
  W.Key("gain");
  writeSpread(W, E.Gain);
  W.EndObject();
}

Error writeKernel(json::PrettyWriter &W, Journal &Log, const KernelProgress &P,
                  const Confirmation &C) {
  auto All = Log.evaluations({P.Kernel->About.Key, "", P.Setting, 0});
  if (!All)
    return All.error();
  W.StartObject();
  W.Key("key");
  W.String(P.Kernel->About.Key);
  W.Key("name");
  W.String(P.Kernel->About.Name);
  W.Key("variants"); // null: more than are counted
  if (P.Variants)
    W.Uint64(*P.Variants);
  else
    W.Null();
  W.Key("share");
  W.Double(P.Kernel->Share);
  W.Key("headroom"); // of the time; null: not known
  if (auto Part = P.Kernel->Above.part())
    W.Double(*Part);
  else
    W.Null();
  W.Key("tried");
  W.Uint64(P.Tried);
  W.Key("settled"); // patience was at its end
  W.Bool(P.Settled);
  W.Key("skipped");
  W.String(P.Skipped);
  W.Key("noise");
  writeSpread(W, P.Noise);
  W.Key("outcomes");
  W.StartObject();
  for (const auto &[Result, Count] : P.Counts) {
    W.Key(std::string(outcomeName(Result)));
    W.Uint64(Count);
  }
  W.EndObject();
  W.Key("best");
  if (P.Best)
    writeEvaluation(W, *P.Best);
  else
    W.Null();
  W.Key("evidence");
  if (C.Accepted)
    W.RawValue(C.Accepted->Detail.data(), C.Accepted->Detail.size(),
               rapidjson::kObjectType);
  else
    W.Null();
  W.Key("unconfirmed"); // why there is no evidence
  W.String(C.Why);
  W.Key("notApplicable"); // what ranked higher, and why no build can have it
  W.String(C.NotApplicable);
  W.Key("evaluations");
  W.StartArray();
  for (const Evaluation &E : *All)
    if (!E.Change.isOriginal())
      writeEvaluation(W, E);
  W.EndArray();
  W.EndObject();
  return Error::success();
}

std::string confirmedText(const RatioSpread &Gain) {
  return gainText(Gain.Median, Gain.Low, Gain.High);
}

} // namespace

std::string SearchReport::state() const {
  return Summary.Interrupted ? "interrupted" : Summary.State.State;
}

void SearchReport::print(Context &Given) const {
  bool Cpu = Given.Backend == "cpu";
  Given.Out.print("device " + Summary.Device.Key +
                  (Cpu ? " (CPU time, not a GPU's)" : "") + "\n");
  std::vector<std::string> Headings = {"KERNEL", ">GAIN", "EVIDENCE", ">RANKED",
                                       ">NOISE", "OF",    "BY",       "TRIED"};
  const bool ShowHeadroom = std::any_of(
      Summary.Kernels.begin(), Summary.Kernels.end(),
      [](const KernelProgress &P) { return P.Kernel->Above.part(); });
  if (ShowHeadroom)
    Headings.insert(Headings.begin() + 1, ">HEADROOM");
  Table Lines(Headings);
  for (size_t I = 0; I < Summary.Kernels.size(); ++I) {
    const KernelProgress &P = Summary.Kernels[I];
    const Confirmation *C = I < Confirmed.size() ? &Confirmed[I] : nullptr;
    const bool Won = C && C->Accepted;
    std::string Noise = P.Noise.Median > 0
                            ? format("[%.3f, %.3f]", P.Noise.Low, P.Noise.High)
                            : "-";
    const Evaluation *By = Won ? &*C->Variant : P.Best ? &*P.Best : nullptr;
    const std::string Ranked =
        By ? gainText(By->Gain.Median, By->Gain.Low, By->Gain.High) : "-";
    std::vector<std::string> Cells = {
        shortened(printable(P.Kernel->About.Name), 48),
        Won ? Given.Out.good(confirmedText(C->Accepted->Gain)) : "-",
        Won ? C->Accepted->Level : "-",
        Ranked,
        Noise,
        P.Variants ? format("%zu/%zu", P.Tried, *P.Variants)
                   : format("%zu", P.Tried),
        By ? shortened(By->Note, 40) : "",
        P.Skipped.empty() ? countsText(P.Counts)
                          : "skipped: " + printable(P.Skipped)};
    if (ShowHeadroom)
      Cells.insert(Cells.begin() + 1, headroomText(P.Kernel->Above));
    Lines.add(std::move(Cells));
  }
  Given.Out.print(Lines.text());
  for (size_t I = 0; I < Confirmed.size(); ++I)
    if (!Confirmed[I].NotApplicable.empty())
      Given.Out.print(printable(Summary.Kernels[I].Kernel->About.Name) +
                      ": what ranks first, " + Confirmed[I].NotApplicable +
                      "; --space applicable searches what can be\n");
  for (size_t I = 0; I < Confirmed.size(); ++I)
    if (!Confirmed[I].Why.empty())
      Given.Out.print(printable(Summary.Kernels[I].Kernel->About.Name) +
                      ": no gain is confirmed: " + Confirmed[I].Why + "\n");
  for (size_t I = 0; I < Confirmed.size(); ++I)
    if (Confirmed[I].Accepted)
      for (const std::string &Text : evidenceWarnings(*Confirmed[I].Accepted))
        Given.Out.print(printable(Summary.Kernels[I].Kernel->About.Name) +
                        ": " + printable(Text) + "\n");
  if (Summary.WorkersLost)
    Given.Out.print(plural(Summary.WorkersLost, "worker") + " lost\n");
  Given.Out.print(nextStep(Given));
}

/// What makes use of what was found.
std::string SearchReport::applyStep(const Context &Given) const {
  bool Strong = false, Weak = false;
  for (const Confirmation &C : Confirmed)
    if (C.Accepted)
      (C.Accepted->Level == "strong" ? Strong : Weak) = true;
  if (!Strong && !Weak)
    return "";
  return std::string("; next: r3 explain, r3 apply") +
         (Given.Backend == "cpu" ? " --device cpu" : "") +
         (Weak ? " --accept weak" : "");
}

/// What makes more of a search that has spent what it may.
static std::string more(const Session &State) {
  if (State.BudgetMs >= NoTimeLimit)
    return "a larger --max-evals";
  return State.MaxEvaluations ? "--more 10m or a larger --max-evals"
                              : "--more 10m";
}

std::string SearchReport::nextStep(const Context &Given) const {
  const Session &State = Summary.State;
  const std::string Spent = spentText(State) + " spent";
  if (std::all_of(Summary.Kernels.begin(), Summary.Kernels.end(),
                  [](const KernelProgress &P) { return P.NoHeadroom; }))
    return "no kernel has headroom; r3 remix KERNEL searches one all the "
           "same\n";
  if (Summary.Interrupted)
    return "interrupted, nothing is lost: the same command goes on (" + Spent +
           ")\n";
  if (State.State == "spent")
    return "the budget is used up (" + Spent + "): " + more(State) +
           " goes on" + applyStep(Given) + "\n";
  if (State.State == "settled")
    return "no kernel has become faster for " + plural(Patience, "variant") +
           " (" + Spent + "): more --patience goes on" + applyStep(Given) +
           "\n";
  if (State.State == "complete")
    return "the whole space was tried (" + Spent +
           "); --seed N draws another one" + applyStep(Given) + "\n";
  return "not all of the space was tried (" + Spent +
         "): the same command goes on" + applyStep(Given) + "\n";
}

Error SearchReport::printJson(Context &Given, Journal &Log) const {
  rapidjson::StringBuffer Buffer;
  json::PrettyWriter W(Buffer);
  W.StartObject();
  W.Key("device");
  W.String(Summary.Device.Key);
  W.Key("backend");
  W.String(Summary.Device.Backend);
  W.Key("tools");
  W.String(Summary.Device.Tools);
  W.Key("timeKind");
  W.String(Given.timeWord());
  W.Key("state");
  W.String(state());
  W.Key("spentMs");
  W.Uint64(Summary.State.SpentMs);
  W.Key("budgetMs");
  W.Uint64(Summary.State.BudgetMs);
  W.Key("workersLost");
  W.Uint64(Summary.WorkersLost);
  W.Key("kernels");
  W.StartArray();
  for (size_t I = 0; I < Summary.Kernels.size(); ++I)
    if (Error E =
            writeKernel(W, Log, Summary.Kernels[I],
                        I < Confirmed.size() ? Confirmed[I] : Confirmation()))
      return E;
  W.EndArray();
  W.EndObject();
  Given.Out.print(std::string(Buffer.GetString()) + "\n");
  return Error::success();
}

} // namespace r3
