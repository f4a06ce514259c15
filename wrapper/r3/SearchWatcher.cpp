// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "wrapper/r3/SearchWatcher.h"

#include "wrapper/r3/Text.h"

#include <algorithm>

namespace r3 {

std::string countsText(const std::map<Outcome, size_t> &Counts) {
  std::string Text;
  for (const auto &[Result, Count] : Counts)
    Text += (Text.empty() ? "" : "  ") + countText(Count) + " " +
            std::string(outcomeName(Result));
  return Text.empty() ? "nothing tried" : Text;
}

std::string spentText(const Session &S) {
  if (S.BudgetMs >= NoTimeLimit)
    return countText(S.Evaluations) + " of " +
           plural(S.MaxEvaluations, "evaluation");
  return clockText(S.SpentMs) + " of " + clockText(S.BudgetMs);
}

/// "budget 19:57", of what is left.
static std::string leftText(const Session &S) {
  const bool Timed = S.BudgetMs < NoTimeLimit;
  const uint64_t Has = Timed ? S.BudgetMs : S.MaxEvaluations;
  const uint64_t Left = Has - std::min(Has, Timed ? S.SpentMs : S.Evaluations);
  return "budget " + (Timed ? clockText(Left) : plural(Left, "evaluation"));
}

void SearchWatcher::started(const Session &S, const DeviceIdentity &Device) {
  std::string Spent = S.Resumed
                          ? ", going on: " + spentText(S) + " spent, " +
                                plural(S.Evaluations, "evaluation") + " made"
                          : "";
  Session Whole = S;
  Whole.SpentMs = Whole.Evaluations = 0;
  Given.Err.print("r3: searching on " + Device.Key + ", " + leftText(Whole) +
                  Spent + "\n");
}

void SearchWatcher::preparing(const SearchKernel &K) {
  Line.update(K.About.Name + ": replaying the original", -1);
}

void SearchWatcher::evaluated(const KernelProgress &P, const Evaluation &E,
                              const Session &S, bool Fresh) {
  double Done = doneWith(P, S);
  if (!Fresh) {
    Known = Done;
    return;
  }
  if (Given.Verbose) {
    Line.clear();
    Given.Err.print("  " + E.Note + ": " + std::string(outcomeName(E.Result)) +
                    (E.Message.empty() ? "" : " (" + E.Message + ")") + "\n");
  }
  std::string Best = P.Best ? gainText(P.Best->Gain.Median, P.Best->Gain.Low,
                                       P.Best->Gain.High)
                            : "-";
  // What the journal knew took no time and says nothing about the rest.
  Line.update(P.Kernel->About.Name + "  " + Best + "  " + countsText(P.Counts) +
                  "  " + leftText(S),
              Known < 1 ? (Done - Known) / (1 - Known) : -1);
}

void SearchWatcher::warn(const std::string &Message) {
  Line.clear();
  Given.warn(Message);
}

/// Of the whole search, 0..1.
double SearchWatcher::doneWith(const KernelProgress &P, const Session &S) {
  if (Current && P.Kernel != Current)
    ++Finished;
  Current = P.Kernel;
  if (!P.Variants) // until the budget is used up, or what it may try
    return std::max(double(S.SpentMs) / double(S.BudgetMs),
                    S.MaxEvaluations
                        ? double(S.Evaluations) / double(S.MaxEvaluations)
                        : 0);
  double Here = *P.Variants ? double(P.Tried) / double(*P.Variants) : 0;
  return (double(Finished) + Here) / double(Kernels);
}

} // namespace r3
