// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// r3 explain: the evidence of the journal for a person: what was changed, on
// which recordings it was found right and how, and what its times were.
#include "wrapper/r3/Catalogue.h"
#include "wrapper/r3/Command.h"
#include "wrapper/r3/Text.h"
#include "wrapper/r3/Winner.h"

#include "runtime/support/Json.h"

#include <algorithm>
#include <ctime>
#include <set>

namespace r3 {

namespace {

/// What the gate said of one variant.
struct Explained {
  Evidence Found;
  Evaluation Made;
  json::Document Detail;
};

std::string dateText(uint64_t Seconds) {
  const auto At = static_cast<std::time_t>(Seconds);
  std::tm Parts = {};
  localtime_r(&At, &Parts);
  char Buffer[32];
  std::strftime(Buffer, sizeof(Buffer), "%Y-%m-%d %H:%M", &Parts);
  return Buffer;
}

std::string number(const json::Value &Of, const char *Name,
                   const char *Format) {
  return format(Format, json::real(Of, Name, 0));
}

/// "32 -> 40", or one number where both are the same.
std::string change(const json::Value &Before, const json::Value &After,
                   const char *Name) {
  const uint64_t From = json::number(Before, Name, 0);
  const uint64_t To = json::number(After, Name, 0);
  return From == To ? std::to_string(To)
                    : std::to_string(From) + " -> " + std::to_string(To);
}

FloorReport floorOf(const json::Value &Times) {
  FloorReport F;
  F.ReadBytes = json::number(Times, "readBytes", 0);
  F.WrittenBytes = json::number(Times, "writtenBytes", 0);
  F.Counted = {json::number(Times, "floatOperations", 0),
               json::number(Times, "doubleOperations", 0),
               json::number(Times, "halfOperations", 0)};
  F.Uncounted = json::text(Times, "uncounted", "");
  return F;
}

class Explain : public Command {
public:
  void declare(Flags &Options) override {
    Options.texts("KERNEL", Patterns, "",
                  "kernels by name, part of it or key (default: all)");
    Options.flag("--json", Json, "print JSON");
  }

  Expected<int> run(Context &Given) override {
    auto From = Given.openStore();
    if (!From)
      return From.error();
    const Catalogue Recorded = Given.readCatalogue(*From);
    auto Kernels = Recorded.select(Given.Backend, Patterns);
    if (!Kernels)
      return Kernels.error();
    auto Log = Journal::openForReading(From->journalPath());
    if (!Log)
      return Log.error();
    std::vector<Explained> All;
    for (const CatalogueKernel *K : *Kernels)
      if (Error E = read(**Log, K->Key, Given.Backend, All))
        return E;
    if (All.empty())
      return fail(ErrorCode::NotFound,
                  "no variant went through the gate yet; `r3 remix` sends the "
                  "best of its search");
    if (Json)
      return printJson(Given, All);
    for (const Explained &E : All)
      print(Given, E);
    return 0;
  }

private:
  /// The latest of each variant.
  static Error read(Journal &Log, const std::string &Key,
                    const std::string &Backend, std::vector<Explained> &All) {
    auto Found = Log.evidence(Key);
    if (!Found)
      return Found.error();
    auto Made = Log.evaluations({Key, Backend, "", 0});
    if (!Made)
      return Made.error();
    std::set<std::string> Seen;
    for (auto E = Found->rbegin(); E != Found->rend(); ++E) {
      auto Of = std::find_if(Made->begin(), Made->end(), [&](const auto &One) {
        return One.Id == E->Evaluation;
      });
      if (Of == Made->end() || !Seen.insert(E->VariantId + E->Device).second)
        continue;
      auto Detail = json::parse(E->Detail, "evidence");
      if (!Detail)
        return Detail.error();
      All.push_back({*E, *Of, std::move(*Detail)});
    }
    return Error::success();
  }

  static Expected<int> printJson(Context &Given,
                                 const std::vector<Explained> &All) {
    rapidjson::StringBuffer Buffer;
    json::PrettyWriter W(Buffer);
    W.StartArray();
    for (const Explained &E : All) {
      W.StartObject();
      W.Key("key");
      W.String(E.Found.Key);
      W.Key("name");
      W.String(E.Made.Name);
      W.Key("variant");
      W.String(E.Found.VariantId);
      W.Key("change");
      const std::string Change = E.Made.Change.canonicalJson();
      W.RawValue(Change.data(), Change.size(), rapidjson::kObjectType);
      W.Key("note");
      W.String(E.Made.Note);
      W.Key("origin");
      W.String(E.Made.Origin);
      W.Key("at");
      W.Uint64(E.Found.At);
      W.Key("evidence");
      E.Detail.Accept(W);
      W.EndObject();
    }
    W.EndArray();
    Given.Out.print(std::string(Buffer.GetString()) + "\n");
    return 0;
  }

  static void print(Context &Given, const Explained &E) {
    const json::Document &D = E.Detail;
    const bool Accepted = E.Found.Level != "rejected";
    Given.Out.print(printable(E.Made.Name) + " on " +
                    printable(E.Found.Device) +
                    (E.Made.Backend == "cpu" ? " (CPU time)" : "") + "\n");
    auto line = [&](const char *Name, const std::string &Text) {
      Given.Out.print(format("  %-10s ", Name) + printable(Text) + "\n");
    };
    const std::string Gain =
        E.Found.Gain.Median > 0
            ? gainText(E.Found.Gain.Median, E.Found.Gain.Low, E.Found.Gain.High)
            : "";
    Given.Out.print(
        format("  %-10s ", "verdict") +
        (Accepted
             ? Given.Out.good(Gain + ", evidence " + E.Found.Level)
             : Given.Out.bad("rejected") + (Gain.empty() ? "" : ", " + Gain)) +
        "\n");
    if (const std::string Why = json::text(D, "message", ""); !Why.empty())
      line("", json::text(D, "outcome", "") + ": " + Why);
    if (const std::string Why = json::text(D, "weakness", ""); !Why.empty())
      line("", "weak: " + Why);
    printChange(line, E);
    printRecordings(line, D);
    printChecks(line, D);
    printTimes(line, D);
    printBaselines(line, D);
    const json::Value *Before = json::object(D, "original");
    const json::Value *After = json::object(D, "variant");
    if (Before && After)
      line("code", "registers " + change(*Before, *After, "registers") +
                       ", shared " + change(*Before, *After, "shared") +
                       ", spills " + change(*Before, *After, "spills"));
    line("made", dateText(E.Found.At) + " with " + json::text(D, "tools", ""));
    Given.Out.print("\n");
  }

  template <typename Line>
  static void printChange(const Line &line, const Explained &E) {
    const Variant &V = E.Made.Change;
    line("variant", E.Found.VariantId.substr(0, 12) + "  " + E.Made.Note +
                        "  (by " + E.Made.Origin + ")");
    if (!V.Pipeline.empty())
      line("passes", V.Pipeline);
    if (!V.Level.empty())
      line("codegen", V.Level);
    for (const auto &[Name, Value] : V.Options)
      line("option", Name + " = " + std::to_string(Value));
    if (V.MaxRegisters)
      line("codegen", "at most " + plural(V.MaxRegisters, "register"));
    if (!V.PtxasLevel.empty())
      line("ptxas", V.PtxasLevel);
    if (V.MaxThreads || V.MinBlocks)
      line("bounds", format("%u threads, %u blocks at a time", V.MaxThreads,
                            V.MinBlocks));
    if (!V.Loads.empty())
      line("loads", V.Loads);
    if (!V.Stores.empty())
      line("stores", V.Stores);
    if (!V.Arch.empty())
      line("arch", V.Arch);
    if (!V.Remap.empty())
      line("blocks", V.Remap);
    for (const LaunchRule &R : V.Launch)
      line("launch", R.Target + " = " + R.Value);
    for (const auto &[Name, Value] : V.Specialise)
      line("constant", Name + " = " + std::to_string(Value));
    for (const std::string &Text : V.Guards)
      line("guard", Text);
    for (size_t At = 0; At < V.Patch.size();) {
      const size_t End = std::min(V.Patch.find('\n', At), V.Patch.size());
      line(At ? "" : "source", V.Patch.substr(At, End - At));
      At = End + 1;
    }
  }

  template <typename Line>
  static void printRecordings(const Line &line, const json::Value &D) {
    const json::Value *List = json::array(D, "recordings");
    size_t Held = 0;
    std::set<std::string> Classes;
    if (List)
      for (const json::Value &R : List->GetArray()) {
        Held += json::boolean(R, "held", false);
        Classes.insert(json::text(R, "class", ""));
      }
    const size_t Count = List ? List->Size() : 0;
    line("right on", plural(Count, "recording") + " of " +
                         std::to_string(Classes.size()) +
                         (Classes.size() == 1 ? " class" : " classes") + ", " +
                         std::to_string(Held) + " held out of the search");
    if (const json::Value *Only = json::array(D, "onlyClasses"))
      for (const json::Value &Class : Only->GetArray())
        line("only for", Class.GetString());
    if (const json::Value *Left = json::array(D, "leftOut"))
      for (const json::Value &Text : Left->GetArray())
        line("left out", Text.GetString());
    const std::string Tolerance = json::text(D, "tolerance", "");
    line("results", Tolerance.empty() ? "the same, bit for bit, or within the "
                                        "original's own spread"
                                      : Tolerance);
  }

  template <typename Line>
  static void printChecks(const Line &line, const json::Value &D) {
    const json::Value *List = json::array(D, "checks");
    if (!List)
      return;
    const char *Name = "checks";
    for (const json::Value &C : List->GetArray()) {
      const std::string Message = json::text(C, "message", "");
      const std::string Outcome = json::text(C, "outcome", "ok");
      const std::string Text =
          !json::boolean(C, "made", true) ? "not made: " + Message
          : Outcome == "ok"               ? (Message.empty() ? "ok" : Message)
                                          : Outcome + ": " + Message;
      line(Name, format("%-12s ", json::text(C, "check", "").c_str()) + Text +
                     number(C, "milliseconds", "  (%.1f ms)"));
      Name = "";
    }
  }

  template <typename Line>
  static void printBaselines(const Line &line, const json::Value &D) {
    const json::Value *List = json::array(D, "baselines");
    if (!List)
      return;
    for (const json::Value &B : List->GetArray()) {
      const std::string Message = json::text(B, "message", "");
      line("baseline",
           json::text(B, "name", "") + ": " +
               (Message.empty() ? gainText(json::real(B, "ratio", 0),
                                           json::real(B, "atLeast", 0),
                                           json::real(B, "atMost", 0)) +
                                      " by itself"
                                : Message));
    }
  }

  template <typename Line>
  static void printTimes(const Line &line, const json::Value &D) {
    const json::Value *List = json::array(D, "times");
    if (!List)
      return;
    for (const json::Value &T : List->GetArray()) {
      line("times", json::text(T, "message", ""));
      if (json::real(T, "ratio", 0) <= 0)
        continue;
      line("", durationText(json::real(T, "originalUs", 0) * 1e3) + " -> " +
                   durationText(json::real(T, "variantUs", 0) * 1e3) +
                   ", caches " + json::text(T, "mode", "") + ", " +
                   std::to_string(json::number(T, "processes", 0)) +
                   " processes, more than " + number(T, "needed", "%.3fx") +
                   " needed");
      std::string Aa;
      if (const json::Value *Ratios = json::array(T, "aa"))
        for (const json::Value &Ratio : Ratios->GetArray())
          Aa += (Aa.empty() ? "" : ", ") +
                format("%.4f", Ratio.IsNumber() ? Ratio.GetDouble() : 0);
      line("", "original against itself: " + Aa);
      if (json::real(T, "otherRatio", 0) > 0)
        line("", "in the other cache mode " + number(T, "otherRatio", "%.3fx"));
      if (json::real(T, "floorUs", 0) > 0)
        line("", floorText(json::real(T, "floorUs", 0),
                           json::text(T, "floorBy", ""), floorOf(T)));
      if (const json::Value *Warnings = json::array(T, "warnings"))
        for (const json::Value &Text : Warnings->GetArray())
          line("", Text.IsString() ? Text.GetString() : "");
    }
  }

  std::vector<std::string> Patterns;
  bool Json = false;
};

} // namespace

std::unique_ptr<Command> makeExplain() { return std::make_unique<Explain>(); }

} // namespace r3
