// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 minimise: which of a variant's changes carry its gain. The work is in
// wrapper/remix; what is left goes through the gate.
#include "wrapper/remix/Minimise.h"

#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Confirm.h"
#include "wrapper/r3/Interrupt.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"

#include "runtime/support/Json.h"

#include <chrono>

namespace r3 {

namespace {

class Minimise : public Command {
public:
  void declare(Flags &Options) override {
    Options.text("KERNEL", Pattern, "",
                 "the kernel, by name, part of it or key");
    Options.text("--variant", VariantId, "ID",
                 "the beginning of a variant's id (default: what was accepted, "
                 "else the best)");
    Options.duration("--budget", Limits.BudgetMs,
                     "time over all runs of this command (default: 10m)");
    Options.count("--max-evals", Limits.MaxEvaluations,
                  "evaluations over all runs of this command (default: no "
                  "limit)");
    Options.flag("--no-confirm", NoConfirm,
                 "what is left is not sent through the gate");
    Options.texts("--unordered", Unordered, "BUFFER=BYTES",
                  "the records of so many bytes of a buffer may come in any "
                  "order");
    Options.flag("--json", Json, "print JSON");
    Options.text("--launcher", Launcher, "COMMAND",
                 "start workers through COMMAND");
  }

  Expected<int> run(Context &Given) override {
    if (Pattern.empty())
      return fail(ErrorCode::Usage,
                  "which kernel? r3 minimise KERNEL; `r3 list` has them");
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernel = Recorded.selectOne(Given.Backend, Pattern);
    if (!Kernel)
      return Kernel.error();
    auto Winner = chooseVariant(From->journalPath(), (*Kernel)->Key,
                                Given.Backend, VariantId);
    if (!Winner)
      return Winner.error().in((*Kernel)->Display);
    auto Log = Journal::openForWriting(From->journalPath(), "r3 minimise");
    if (!Log)
      return Log.error();
    if (!(*Log)->notice().empty())
      Given.warn((*Log)->notice());
    if (Error E = work(Given, **Log, **Kernel, *Winner))
      return E.in((*Kernel)->Display);
    if (Json)
      printJson(Given, *Winner);
    else
      print(Given, *Winner);
    return status();
  }

private:
  Error work(Context &Given, Journal &Log, const CatalogueKernel &K,
             const Evaluation &Winner) {
    auto Options = Given.workerOptions(Launcher, Unordered);
    if (!Options)
      return Options.error();
    Given.trace({"worker", Options->Backend, Options->StorePath});
    const EvaluatorSource Source = workerSource(*Options);
    const SearchKernel Kernel = searchKernel(K);
    const Clock Now = [] {
      using namespace std::chrono;
      return uint64_t(
          duration_cast<milliseconds>(steady_clock::now().time_since_epoch())
              .count());
    };
    StopOnSignal Signals;
    Progress Line(Given.Err, /*Quiet=*/false);
    auto Found =
        minimise(Log, Source, Now, Signals.flag(), Kernel, Winner, Limits,
                 [&](size_t All, size_t Left) {
                   Line.update(K.Display + ": " + std::to_string(Left) +
                                   " of " + plural(All, "change") + " left",
                               -1);
                 });
    if (!Found)
      return Found.error();
    Report = std::move(*Found);
    if (NoConfirm || Report.Interrupted)
      return Error::success();
    auto Passed =
        confirmOne(Log, Report.Smallest, gateRecordings(K), Source,
                   Signals.flag(), [&](const std::string &Step, double Done) {
                     Line.update(K.Display + ": gate, " + Step, Done);
                   });
    if (!Passed && Passed.error().code() != ErrorCode::Interrupted)
      return Passed.error();
    if (Passed)
      Confirmed = std::move(*Passed);
    else
      Report.Interrupted = true;
    return Error::success();
  }

  static std::string named(const Evaluation &E) {
    return E.Change.id().hex().substr(0, 12) + " (" + printable(E.Note) + ")";
  }

  void print(Context &Given, const Evaluation &Winner) const {
    const size_t All = Report.Kept.size() + Report.Dropped.size();
    Given.Out.print(
        printable(Winner.Name) + " on " + printable(Winner.Device) +
        (Winner.Backend == "cpu" ? " (CPU time, not a GPU's)" : "") + "\n");
    auto line = [&](const char *Name, const std::string &Text) {
      Given.Out.print(format("  %-10s ", Name) + Text + "\n");
    };
    const RatioSpread &G = Report.Winner;
    line("variant", named(Winner) + ", " + gainText(G.Median, G.Low, G.High));
    const auto list = [&](const char *Name, const std::vector<std::string> &L) {
      for (const std::string &Text : L) {
        line(Name, printable(Text));
        Name = "";
      }
    };
    list("kept", Report.Kept);
    if (Report.Kept.empty())
      line("kept", "the source change alone");
    list("left out", Report.Dropped);
    if (Report.Dropped.empty())
      line("left out", All == 1 ? "nothing: it is one change" : "nothing");
    else
      line("minimised", named(Report.Smallest) + ", " + ranked());
    line("needed", format("at least %.3fx; ", Report.Bar) +
                       plural(Report.Evaluations, "evaluation") + ", " +
                       std::to_string(Report.Answered) +
                       " more answered by the journal");
    if (!Report.Unfinished.empty())
      line("not done", Report.Unfinished +
                           ": there may be fewer; the same command, with a "
                           "larger budget, goes on");
    if (Confirmed)
      line("gate", Confirmed->Why.empty()
                       ? "evidence " + Confirmed->Accepted->Level + ", " +
                             gainText(Confirmed->Accepted->Gain.Median,
                                      Confirmed->Accepted->Gain.Low,
                                      Confirmed->Accepted->Gain.High)
                       : "not accepted: " + printable(Confirmed->Why));
  }

  /// Of a binary that is the winner's there may be no times of its own.
  std::string ranked() const {
    const RatioSpread &G = Report.Smallest.Gain;
    return G.Median > 0 ? gainText(G.Median, G.Low, G.High) : "the same binary";
  }

  void printJson(Context &Given, const Evaluation &Winner) const {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    auto list = [&](const char *Name, const std::vector<std::string> &Texts) {
      W.Key(Name);
      W.StartArray();
      for (const std::string &Text : Texts)
        W.String(Text);
      W.EndArray();
    };
    auto spread = [&](const char *Name, const RatioSpread &G) {
      W.Key(Name);
      W.StartObject();
      for (const auto &[Member, Value] :
           {std::pair("median", G.Median), std::pair("low", G.Low),
            std::pair("high", G.High)}) {
        W.Key(Member);
        W.Double(Value);
      }
      W.EndObject();
    };
    W.StartObject();
    W.Key("key");
    W.String(Winner.Key);
    W.Key("name");
    W.String(Winner.Name);
    W.Key("device");
    W.String(Winner.Device);
    W.Key("timeKind");
    W.String(Given.timeWord());
    W.Key("variant");
    W.String(Winner.Change.id().hex());
    spread("gain", Report.Winner);
    W.Key("minimised");
    W.String(Report.Smallest.Change.id().hex());
    W.Key("change");
    const std::string Change = Report.Smallest.Change.canonicalJson();
    W.RawValue(Change.data(), Change.size(), rapidjson::kObjectType);
    spread("minimisedGain", Report.Smallest.Gain);
    list("kept", Report.Kept);
    list("leftOut", Report.Dropped);
    W.Key("atLeast");
    W.Double(Report.Bar);
    W.Key("evaluations");
    W.Uint64(Report.Evaluations);
    W.Key("answered");
    W.Uint64(Report.Answered);
    W.Key("unfinished");
    W.String(Report.Unfinished);
    W.Key("evidence");
    if (Confirmed && Confirmed->Accepted)
      W.RawValue(Confirmed->Accepted->Detail.data(),
                 Confirmed->Accepted->Detail.size(), rapidjson::kObjectType);
    else
      W.Null();
    W.Key("unconfirmed");
    W.String(Confirmed ? Confirmed->Why : "not sent through the gate");
    W.EndObject();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
  }

  Expected<int> status() const {
    if (Report.Interrupted)
      return fail(ErrorCode::Interrupted, "interrupted");
    return 0;
  }

  std::string Pattern, VariantId, Launcher;
  std::vector<std::string> Unordered;
  MinimiseOptions Limits;
  bool NoConfirm = false, Json = false;
  MinimiseReport Report;
  std::optional<Confirmation> Confirmed;
};

} // namespace

std::unique_ptr<Command> makeMinimise() { return std::make_unique<Minimise>(); }

} // namespace r3
