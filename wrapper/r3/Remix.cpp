// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 remix: puts the kernels of the store into a search, shows what it does,
// and prints what it found. The search itself is in wrapper/remix.
#include "runtime/support/Json.h"
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/remix/Search.h"
#include "wrapper/remix/optimizer/Optimizer.h"

#include <chrono>

namespace r3 {

namespace {

uint64_t monotonicMs() {
  using namespace std::chrono;
  return uint64_t(
      duration_cast<milliseconds>(steady_clock::now().time_since_epoch())
          .count());
}

std::string countsText(const std::map<Outcome, size_t> &Counts) {
  std::string Text;
  for (const auto &[Result, Count] : Counts)
    Text += (Text.empty() ? "" : "  ") + countText(Count) + " " +
            std::string(outcomeName(Result));
  return Text.empty() ? "nothing tried" : Text;
}

/// Shows the search on stderr.
class Watcher : public SearchObserver {
public:
  Watcher(Context &Given, Progress &Line, size_t Kernels)
      : Given(Given), Line(Line), Kernels(Kernels) {}

  void started(const Session &S, const DeviceIdentity &Device) override {
    std::string Spent = S.Resumed
                            ? ", going on: " + clockText(S.SpentMs) +
                                  " of the budget spent, " +
                                  plural(S.Evaluations, "evaluation") + " made"
                            : "";
    Given.Err.print("r3: searching on " + Device.Key + ", budget " +
                    clockText(S.BudgetMs) + Spent + "\n");
  }
  void preparing(const SearchKernel &K) override {
    Line.update(K.About.Name + ": replaying the original", -1);
  }
  void evaluated(const KernelProgress &P, const Evaluation &E, const Session &S,
                 bool Fresh) override {
    double Done = doneWith(P, S);
    if (!Fresh) {
      Known = Done;
      return;
    }
    if (Given.Verbose) {
      Line.clear();
      Given.Err.print("  " + E.Note + ": " +
                      std::string(outcomeName(E.Result)) +
                      (E.Message.empty() ? "" : " (" + E.Message + ")") + "\n");
    }
    std::string Best = P.Best ? gainText(P.Best->Gain.Median, P.Best->Gain.Low,
                                         P.Best->Gain.High)
                              : "-";
    uint64_t LeftMs = S.BudgetMs - std::min(S.BudgetMs, S.SpentMs);
    // What the journal knew took no time and says nothing about the rest.
    Line.update(P.Kernel->About.Name + "  " + Best + "  " +
                    countsText(P.Counts) + "  budget " + clockText(LeftMs),
                Known < 1 ? (Done - Known) / (1 - Known) : -1);
  }
  void warn(const std::string &Message) override {
    Line.clear();
    Given.warn(Message);
  }

private:
  /// Of the whole search, 0..1.
  double doneWith(const KernelProgress &P, const Session &S) {
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

  Context &Given;
  Progress &Line;
  size_t Kernels;
  size_t Finished = 0;
  const SearchKernel *Current = nullptr;
  double Known = 0;
};

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

class Remix : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("KERNEL", Patterns, "",
                  "kernels by name, part of it or key (default: all)");
    Options.duration("--budget", BudgetMs,
                     "time of the whole search, over all runs of this command "
                     "(default: 20m)");
    Options.duration("--more", Search.MoreMs, "add time to the budget");
    Options.count(
        "--max-evals", Search.MaxEvaluations,
        "evaluations of the whole search; variants with a binary that "
        "was seen before do not count (default: no limit)");
    Options.choice("--optimizer", Optimizer, optimizerNames(),
                   "search the whole space (docs/SPACE.md) by Bayesian "
                   "optimisation, or to compare with, otherwise (default: some "
                   "forty variants in random order)");
    Options.count("--seed", Search.Seed, "another order of variants");
    Options.flag("--no-confirm", NoConfirm,
                 "search only: the best is not sent through the gate; the same "
                 "command without this does it");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.flag("--json", Json, "print JSON");
    Options.count("--compilers", Compilers,
                  "variants that are built at once while another one runs "
                  "(default: one for each core that the worker may use, but "
                  "one)");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start workers through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    Search.BudgetMs =
        BudgetMs ? BudgetMs
                 : Given.Project.RemixBudgetMs.value_or(Search.BudgetMs);
    if (!Optimizer.empty())
      Search.Space = optimizerProposals(Optimizer, Given.Project.Space);
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Chosen = Recorded.select(Given.Backend, Patterns);
    if (!Chosen)
      return Chosen.error();
    for (const CatalogueKernel *K : *Chosen)
      addKernel(Given, *K);
    if (Kernels.empty())
      return fail(ErrorCode::Failed, "nothing can be searched: %s",
                  (*Chosen)[0]->state().c_str());

    auto Log = Journal::openForWriting(From->journalPath(), "r3 remix");
    if (!Log)
      return Log.error();
    if (!(*Log)->notice().empty())
      Given.warn((*Log)->notice());
    auto Summary = searchWith(Given, **Log);
    if (!Summary)
      return Summary.error();
    // From here on the journal is only read.

    if (Json)
      return printJson(Given, **Log, *Summary);
    print(Given, *Summary);
    return status(*Summary);
  }

private:
  void addKernel(Context &Given, const CatalogueKernel &K) {
    SearchKernel S = searchKernel(K);
    if (S.Recordings.empty()) {
      Given.Err.print("r3: " + printable(K.Display) +
                      " is left out: " + K.state() + "\n");
      return;
    }
    Kernels.push_back(std::move(S));
    GateSees.push_back(gateRecordings(K));
  }

  Expected<SearchSummary> searchWith(Context &Given, Journal &Log) {
    auto Known = Given.workerOptions(Launcher, Unordered);
    if (!Known)
      return Known.error();
    WorkerOptions Options = std::move(*Known);
    Options.Compilers = unsigned(std::min<uint64_t>(Compilers, UINT32_MAX));
    Given.trace({"worker", Options.Backend, Options.StorePath});
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    Watcher Observer(Given, Line, Kernels.size());
    r3::Search S(Log, workerSource(Options), monotonicMs, Observer,
                 Signals.flag());
    auto Summary = S.run(Kernels, Search);
    if (!Summary || NoConfirm || Summary->Interrupted)
      return Summary;
    if (Error E = confirmAll(Log, *Summary, workerSource(Options), Line,
                             Signals.flag())) {
      if (E.code() != ErrorCode::Interrupted)
        return E;
      Summary->Interrupted = true;
    }
    return Summary;
  }

  /// The best of each kernel through the gate.
  Error confirmAll(Journal &Log, const SearchSummary &Summary,
                   const EvaluatorSource &Source, Progress &Line,
                   const std::atomic<bool> &Stop) {
    for (size_t I = 0; I < Summary.Kernels.size(); ++I) {
      const KernelProgress &P = Summary.Kernels[I];
      Confirmed.emplace_back();
      if (!P.Best)
        continue;
      const std::string &Name = P.Kernel->About.Name;
      auto Found =
          confirm(Log, P.Kernel->About.Key, P.Setting, GateSees[I], Source,
                  Stop, [&](const std::string &Step, double Done) {
                    Line.update(Name + ": gate, " + Step, Done);
                  });
      if (!Found)
        return Found.error().in(Name);
      Confirmed.back() = std::move(*Found);
    }
    return Error::success();
  }

  void print(Context &Given, const SearchSummary &Summary) {
    bool Cpu = Given.Backend == "cpu";
    Given.Out.print("device " + Summary.Device.Key +
                    (Cpu ? " (CPU time, not a GPU's)" : "") + "\n");
    Table Lines({"KERNEL", ">GAIN", "EVIDENCE", ">RANKED", ">NOISE", "OF", "BY",
                 "TRIED"});
    for (size_t I = 0; I < Summary.Kernels.size(); ++I) {
      const KernelProgress &P = Summary.Kernels[I];
      const Confirmation *C = I < Confirmed.size() ? &Confirmed[I] : nullptr;
      const bool Won = C && C->Accepted;
      std::string Ranked = P.Best
                               ? gainText(P.Best->Gain.Median, P.Best->Gain.Low,
                                          P.Best->Gain.High)
                               : "-";
      std::string Noise =
          P.Noise.Median > 0 ? format("[%.3f, %.3f]", P.Noise.Low, P.Noise.High)
                             : "-";
      const Evaluation *By = Won ? &*C->Variant : P.Best ? &*P.Best : nullptr;
      Lines.add({shortened(printable(P.Kernel->About.Name), 48),
                 Won ? Given.Out.good(confirmedText(C->Accepted->Gain)) : "-",
                 Won ? C->Accepted->Level : "-", Ranked, Noise,
                 P.Variants ? format("%zu/%zu", P.Tried, *P.Variants)
                            : format("%zu", P.Tried),
                 By ? shortened(By->Note, 40) : "",
                 P.Skipped.empty() ? countsText(P.Counts)
                                   : "skipped: " + printable(P.Skipped)});
    }
    Given.Out.print(Lines.text());
    for (size_t I = 0; I < Confirmed.size(); ++I)
      if (!Confirmed[I].Why.empty())
        Given.Out.print(printable(Summary.Kernels[I].Kernel->About.Name) +
                        ": no gain is confirmed: " + Confirmed[I].Why + "\n");
    if (Summary.WorkersLost)
      Given.Out.print(plural(Summary.WorkersLost, "worker") + " lost\n");
    Given.Out.print(nextStep(Given, Summary));
  }

  static std::string confirmedText(const RatioSpread &Gain) {
    return gainText(Gain.Median, Gain.Low, Gain.High);
  }

  /// What makes use of what was found.
  std::string applyStep(const Context &Given) const {
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

  std::string nextStep(const Context &Given, const SearchSummary &S) const {
    std::string Spent = clockText(S.State.SpentMs) + " of " +
                        clockText(S.State.BudgetMs) + " spent";
    if (S.Interrupted)
      return "interrupted, nothing is lost: the same command goes on (" +
             Spent + ")\n";
    if (S.State.State == "spent")
      return "the budget is used up (" + Spent + "): --more 10m" +
             std::string(S.State.MaxEvaluations ? " or a larger --max-evals"
                                                : "") +
             " goes on" + applyStep(Given) + "\n";
    if (S.State.State == "complete")
      return "the whole space was tried (" + Spent +
             "); --seed N draws another one" + applyStep(Given) + "\n";
    return "not all of the space was tried (" + Spent +
           "): the same command goes on" + applyStep(Given) + "\n";
  }

  Expected<int> printJson(Context &Given, Journal &Log,
                          const SearchSummary &Summary) {
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
    W.String(Summary.Interrupted ? "interrupted" : Summary.State.State);
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
    return status(Summary);
  }

  static Error writeKernel(json::PrettyWriter &W, Journal &Log,
                           const KernelProgress &P, const Confirmation &C) {
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
    W.Key("tried");
    W.Uint64(P.Tried);
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
    W.Key("evaluations");
    W.StartArray();
    for (const Evaluation &E : *All)
      if (!E.Change.isOriginal())
        writeEvaluation(W, E);
    W.EndArray();
    W.EndObject();
    return Error::success();
  }

  /// A search that found nothing has still done what it was asked for; one
  /// that could try nothing has not.
  static Expected<int> status(const SearchSummary &Summary) {
    if (Summary.Interrupted)
      return fail(ErrorCode::Interrupted, "interrupted");
    for (const KernelProgress &P : Summary.Kernels)
      if (P.Skipped.empty())
        return 0;
    return fail(ErrorCode::Failed, "no kernel could be searched: %s",
                Summary.Kernels[0].Skipped.c_str());
  }

  std::vector<std::string> Patterns, Unordered;
  SearchOptions Search;
  uint64_t BudgetMs = 0;  // 0: not given
  uint64_t Compilers = 0; // 0: the worker's choice
  bool Json = false, NoConfirm = false;
  std::string Launcher, Optimizer;
  std::vector<SearchKernel> Kernels;
  std::vector<std::vector<SearchRecording>> GateSees; // one a kernel
  std::vector<Confirmation> Confirmed; // one a kernel that was searched
};

} // namespace

std::unique_ptr<Command> makeRemix() { return std::make_unique<Remix>(); }

} // namespace r3
